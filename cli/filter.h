/* SPDX-License-Identifier: MIT */
/* The filter that a command line asks for. */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include <printfdecode/filter.h>

#include "options.h"

/* What one run of the command filters with. All zero: everything is wanted. */
struct filtering {
    struct pfd_filter *filter; /* NULL: none is asked for */
    uint64_t n_given;          /* entries that passed */
    uint64_t n_doubts;         /* of those, where a pattern gave up */
};

/* Reads the options. False: something is wrong, and was said. */
bool filtering_open(struct filtering *ret, const struct options *options);

/* strings: all that there are. False: the condition has a name that none of
 * them has, which was said. */
bool filtering_check(const struct filtering *filtering,
                     const struct pfd_strings *strings);

/* What one thread tests entries with; NULL where there is no filter. False:
 * out of memory, and was said. */
bool filtering_run(const struct filtering *filtering,
                   const struct pfd_strings *strings,
                   struct pfd_filter_run **ret);

/* Says what was doubtful, and frees. status: what the command would exit with;
 * returns EXIT_NOTHING instead where all was well and nothing passed. */
int filtering_close(struct filtering *filtering, int status);

#endif
