/* SPDX-License-Identifier: MIT */
#ifndef PFD_TAIL_SLICES_H
#define PFD_TAIL_SLICES_H

#include "stream/live/tail_pass.h"

/*
 * Gives what the tail's walk would give from where it is, in the same order, with
 * the tail's helpers, where there is much that comes in runs; the walk goes on
 * behind it.
 */
void pfd_tail_slices_walk(struct pfd_tail *t, struct pfd_tail_pass *p);

#endif
