/* SPDX-License-Identifier: MIT */
/* Which entries are wanted: a filter, how many, and ranges of indexes. */
#ifndef PYTHON_SELECTION_H
#define PYTHON_SELECTION_H

#include <printfdecode/filter.h>

#include "core.h"

struct selection {
    struct pfd_filter *filter; /* NULL: all entries */
    uint64_t skip;             /* selected entries to leave out first */
    uint64_t limit;            /* selected entries then; UINT64_MAX: all */
    struct pfd_range *ranges;  /* [n_ranges] of indexes, in order; owned */
    size_t n_ranges;           /* 0: all */
};

/* Reads a dict: match, format, ids, sources, where, ignore_case, invert, skip,
 * limit, ranges. False: an exception is set. */
bool selection_read(struct selection *ret, PyObject *words);
void selection_free(struct selection *selection);

/* Is the index in a range? *over: no later one is. */
bool selection_has(const struct selection *selection, uint64_t index,
                   bool *over);

#endif
