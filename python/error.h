/* SPDX-License-Identifier: MIT */
/* Failures as exceptions, findings as objects. */
#ifndef PYTHON_ERROR_H
#define PYTHON_ERROR_H

#include "core.h"

/* A finding as an object; NULL: an exception is set. */
PyObject *core_finding(const struct pfd_finding *finding);

/* Findings, where no GIL is held: copies, which become objects later. All zero
 * is an empty list. */
struct finding_list {
    struct pfd_finding *all; /* [n]; the texts are owned */
    size_t n;
    bool notes;  /* keeps notes as well */
    bool failed; /* out of memory */
};

/* A pfd_finding_fn; user: a struct finding_list. Needs no GIL. */
void finding_list_add(void *user, const struct pfd_finding *finding);

void finding_list_free(struct finding_list *list);

/* Appends them to a list of objects. False: an exception is set. */
bool finding_list_give(const struct finding_list *list, PyObject *to);

#endif
