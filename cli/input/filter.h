/* SPDX-License-Identifier: MIT */
/* The filter that a command line asks for. */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include <printfdecode/filter.h>

#include "options.h"

/* What one run of the command filters with. All zero: everything is wanted. */
struct filtering {
    const struct options *o;   /* borrowed */
    struct pfd_filter *filter; /* NULL: none is asked for */
    uint64_t n_given;          /* entries that passed */
    uint64_t n_doubts;         /* of those, where a pattern gave up */
    bool is_wrong;             /* the condition has a name that nothing had */
};

/* Reads the options. False: something is wrong, and was said. */
bool filtering_open(struct filtering *ret, const struct options *options);

/* When all entries have come; strings: all that were loaded. Says which name of
 * the condition no format string had, neither of those nor of those that came
 * with entries; where nothing passed, which ids no string had. */
void filtering_end(struct filtering *filtering,
                   const struct pfd_strings *strings);

/* What one thread tests entries with; NULL where there is no filter. False:
 * out of memory, and was said. */
bool filtering_run(const struct filtering *filtering,
                   const struct pfd_strings *strings,
                   struct pfd_filter_run **ret);

/* Says what was doubtful, and frees. status: what the command would exit with;
 * returns EXIT_NOTHING instead where all was well and nothing passed, EXIT_ERROR
 * where the condition was wrong. */
int filtering_close(struct filtering *filtering, int status);

#endif
