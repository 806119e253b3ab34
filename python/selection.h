/* SPDX-License-Identifier: MIT */
/* Which entries are wanted: a filter, how many, and ranges of indexes. */
#ifndef PYTHON_SELECTION_H
#define PYTHON_SELECTION_H

#include <printfdecode/filter.h>

#include "core.h"

/* Texts that a dict keeps alive. */
struct texts {
    const char **all; /* [n]; owned */
    size_t n;
};

/* The words of a selection, which borrow from their dict. */
struct wanted {
    struct texts patterns;
    struct texts formats;
    struct texts sources;
    uint64_t *ids; /* [n_ids]; owned */
    size_t n_ids;
    const char *where; /* NULL: none, likewise from */
    const char *from;
    bool ignore_case;
    bool invert;
};

/* Reads match, format, sources, ids, where, from, ignore_case and invert of a
 * dict. False: an exception is set. */
bool wanted_read(struct wanted *ret, PyObject *words);
void wanted_free(struct wanted *wanted);

struct selection {
    struct pfd_filter *filter; /* NULL: all entries */
    uint64_t skip;             /* selected entries to leave out first */
    uint64_t limit;            /* selected entries then; UINT64_MAX: all */
    struct pfd_range *ranges;  /* [n_ranges] of indexes, in order; owned */
    size_t n_ranges;           /* 0: all */
};

/* Reads a dict: what wanted_read() reads but `from`, and skip, limit, ranges.
 * False: an exception is set. */
bool selection_read(struct selection *ret, PyObject *words);
void selection_free(struct selection *selection);

/* Is the index in a range? *over: no later one is. */
bool selection_has(const struct selection *selection, uint64_t index,
                   bool *over);

#endif
