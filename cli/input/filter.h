/* SPDX-License-Identifier: MIT */
/* The filter of a command line. */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include <printfdecode/filter.h>

#include "options/options.h"

/* The filter of one invocation, and its counts. All zero: no filter. */
struct filtering {
    const struct filter_options *o; /* borrowed */
    struct pfd_filter *filter;      /* NULL: all entries are wanted */
    uint64_t n_given;               /* entries that passed */
    uint64_t n_doubts; /* passed entries on which a pattern gave up */
    bool is_wrong;     /* the condition has a name that no entry had */
    bool is_explained; /* it was said why no entry passed */
};

/* Builds the filter from the options. False: an error was printed. */
bool filtering_open(struct filtering *ret,
                    const struct filter_options *options);

/* To be called after the last entry; strings: all that were loaded. Prints an
 * error for a name in the condition that no format string had, neither a loaded
 * one nor one that came with entries. When no entry passed, prints the ids that
 * no string has. */
void filtering_end(struct filtering *filtering,
                   const struct pfd_strings *strings);

/* The filter's state for one thread; NULL without a filter. False: out of
 * memory; an error was printed. */
bool filtering_run(const struct filtering *filtering,
                   const struct pfd_strings *strings,
                   struct pfd_filter_run **ret);

/* Prints how many entries a pattern gave up on, and, on a terminal, that none
 * passed; frees the filter. status: the exit status so far. Returns EXIT_ERROR when the condition was wrong,
 * EXIT_NOTHING when status is clean and no entry passed, else status. */
int filtering_close(struct filtering *filtering, int status);

#endif
