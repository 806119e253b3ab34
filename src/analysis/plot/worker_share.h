/* SPDX-License-Identifier: MIT */
/*
 * A worker's share of a picture: cells of its own for points of one kind.
 * Workers fill them in parallel and merge them into the plot at once. The
 * result does not depend on the order of merging: first and last are decided by
 * the points' order, and sums are exact. Points without a cell go to the plot
 * as runs, in their order.
 */
#ifndef PFD_WORKER_SHARE_H
#define PFD_WORKER_SHARE_H

#include "core/output/points.h"

struct pfd_worker_share;

/* Begins the points of another buffer; call before its shares are made. */
void pfd_worker_shares_begin(const struct pfd_points *points);

/* NULL: out of memory. Shares of a plot may be used in parallel. */
struct pfd_worker_share *pfd_worker_share_new(const struct pfd_points *points);

/* Merges its cells into the plot, and frees it; NULL is allowed. One share at a
 * time, like pfd_worker_share_turn(). */
void pfd_worker_share_end(struct pfd_worker_share *worker_share);

/* Merges or makes cells: no other thread may change the plot meanwhile. */
void pfd_worker_share_turn(struct pfd_worker_share *worker_share);

/* Can it take points of this plan? */
bool pfd_worker_share_opens(struct pfd_worker_share *worker_share,
                            const struct pfd_point_plan *plan);

enum {
    PFD_WORKER_SHARE_POINTS = 512 /* at once */
};

/*
 * Takes points [n] of the plan that it was opened for, with the values in
 * `payloads`; order: of the first point, the others follow. Returns how many it
 * took: the next has no cell here.
 */
size_t pfd_worker_share_take(struct pfd_worker_share *worker_share,
                             const uint8_t *const *payloads, size_t n,
                             uint64_t order);

#endif
