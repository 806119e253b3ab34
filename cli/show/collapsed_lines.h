/* SPDX-License-Identifier: MIT */
/* --collapse: groups lines of entries on their way to standard output. */
#ifndef CLI_COLLAPSED_LINES_H
#define CLI_COLLAPSED_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/collapse/collapse.h"

/* How --collapse groups entries. */
enum collapse {
    COLLAPSE_NO,
    COLLAPSE_STRING, /* entries of one format string */
    COLLAPSE_EQUAL,  /* entries with one message */
};

struct collapse_options {
    enum collapse how;
    uint64_t window; /* entries; 0: the library's default */
};

/* output: the word of -o, or NULL. *ret is NULL without --collapse. False: it is not possible; an error was
 * printed. */
bool collapsed_lines_open(const struct collapse_options *options,
                          const char *output, struct pfd_collapse **ret);

enum {
    COLLAPSING_MS = 1000, /* longest time that a line waits for its group to
                             end */
};

/* Calls collapsed_lines_end() if the last call, at *ended_ns of
 * CLOCK_MONOTONIC, is COLLAPSING_MS ago. */
bool collapsed_lines_end_in_time(struct pfd_collapse *collapse,
                                 uint64_t *ended_ns);

/* Writes all waiting lines. False: out of memory; an error was printed. NULL is
 * allowed. */
bool collapsed_lines_end(struct pfd_collapse *collapse);

#endif
