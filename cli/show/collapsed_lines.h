/* SPDX-License-Identifier: MIT */
/* --collapse: lines of entries on their way to standard output. */
#ifndef CLI_COLLAPSED_LINES_H
#define CLI_COLLAPSED_LINES_H

#include <printfdecode/collapse.h>

#include "options.h"

/* *ret is NULL where it is not asked for. False: it cannot be, which was
 * said. */
bool collapsed_lines_open(const struct options *options,
                          struct pfd_collapse **ret);

enum {
    COLLAPSING_MS = 1000, /* a run goes on no longer: its line is waited for */
};

/* collapsing_end() where the last one, at *ended_ns by CLOCK_MONOTONIC, is so
 * long ago. */
bool collapsed_lines_end_in_time(struct pfd_collapse *collapse,
                                 uint64_t *ended_ns);

/* Writes all that waits. False: memory is out, which was said. NULL is
 * allowed. */
bool collapsed_lines_end(struct pfd_collapse *collapse);

#endif
