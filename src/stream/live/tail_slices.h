/* SPDX-License-Identifier: MIT */
#ifndef PFD_TAIL_SLICES_H
#define PFD_TAIL_SLICES_H

#include "stream/live/tail_pass.h"

/*
 * Emits the entries that the tail's walk would emit from its position, in the
 * same order, but on the threads of the tail's pool, if there are many in runs;
 * the walk goes on behind them.
 */
void pfd_tail_slices_walk(struct pfd_tail *t, struct pfd_tail_pass *p);

#endif
