/* SPDX-License-Identifier: MIT */
#ifndef PFD_TAIL_STRETCHES_H
#define PFD_TAIL_STRETCHES_H

#include "live/tail_pass.h"

/*
 * Gives out what stands first where the tail's walk is, if there is much and
 * all of it comes in runs, with the tail's helpers: the same, in the same order,
 * as the walk would have given, which then goes on behind it.
 */
void pfd_tail_stretches_walk(struct pfd_tail *t, struct pfd_tail_pass *p);

#endif
