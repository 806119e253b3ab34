/* SPDX-License-Identifier: MIT */
/*
 * A worker's share of a picture: cells of its own for points of one kind, which
 * it fills beside the others and gives to the plot in one go. What becomes of a
 * cell does not depend on whose points come first: by their order first and
 * last are told apart, and sums are exact. What it has no room for is given to
 * the plot as runs, in their order.
 */
#ifndef PFD_WORKER_SHARE_H
#define PFD_WORKER_SHARE_H

#include "core/output/points.h"

struct pfd_worker_share;

/* The points of another buffer begin; before its shares are made. */
void pfd_worker_shares_begin(const struct pfd_points *points);

/* NULL when out of memory. Shares of a plot may be used side by side. */
struct pfd_worker_share *pfd_worker_share_new(const struct pfd_points *points);

/* Gives what it has, and frees it; NULL is allowed. One share at a time, like
 * pfd_worker_share_turn(). */
void pfd_worker_share_end(struct pfd_worker_share *worker_share);

/* Nobody else changes the plot now: cells may be given, or made. */
void pfd_worker_share_turn(struct pfd_worker_share *worker_share);

/* Can it take points of this plan? */
bool pfd_worker_share_opens(struct pfd_worker_share *worker_share,
                            const struct pfd_point_plan *plan);

enum {
    PFD_WORKER_SHARE_POINTS = 512 /* at once */
};

/*
 * Takes points [n] of the plan that it was opened for, the values of which are
 * in `payloads`, the first of this order, the others behind it. How many it
 * took: the next has no cell here.
 */
size_t pfd_worker_share_take(struct pfd_worker_share *worker_share,
                             const uint8_t *const *payloads, size_t n,
                             uint64_t order);

#endif
