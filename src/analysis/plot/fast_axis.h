/* SPDX-License-Identifier: MIT */
/*
 * An axis for coordinates that are doubles or integers of 32 bits: finds the
 * cells of most points without a call.
 */
#ifndef PFD_FAST_AXIS_H
#define PFD_FAST_AXIS_H

#include <stdlib.h>

#include "analysis/plot/axis.h"

struct pfd_fast_axis {
    double scale;
    int64_t from;
    uint64_t n;
    double low;
    double high;
    bool is_possible;
    bool is_shift; /* cells are 2^k wide, with k at least 0 */
    unsigned k;
    int64_t least;   /* the first integer of 32 bits that has a cell */
    uint64_t behind; /* the number of integers from it on that have one */
};

/* Limits a place: no integer of 32 bits is farther from 0. */
static inline pfd_place pfd_fast_axis_near(pfd_place at)
{
    const pfd_place far = (pfd_place)1 << 40;
    return at < -far ? -far : at > far ? far : at;
}

/* Sets the range of integers of 32 bits that have cells. */
static inline void pfd_fast_axis_set_range(struct pfd_fast_axis *q,
                                           const struct pfd_axis *a)
{
    const double far = 0x1p40;
    pfd_place width = (pfd_place)1 << q->k;
    pfd_place least = pfd_fast_axis_near(q->from * width);
    pfd_place most =
        pfd_fast_axis_near((q->from + (pfd_place)q->n) * width - 1);
    if (a->is_limited) {
        pfd_place low = (pfd_place)ceil(fmax(fmin(a->low.hi, far), -far));
        pfd_place high = (pfd_place)floor(fmax(fmin(a->high.hi, far), -far));
        least = low > least ? low : least;
        most = high < most ? high : most;
    }
    q->least = (int64_t)least;
    q->behind = most >= least ? (uint64_t)(most - least) + 1 : 0;
}

static inline struct pfd_fast_axis pfd_fast_axis_of(const struct pfd_axis *a)
{
    const pfd_place far = (pfd_place)1 << 52;
    struct pfd_fast_axis q = {
        .scale = a->scale[0] * a->scale[1],
        .from = (int64_t)a->from,
        .n = a->n,
        .low = a->is_limited ? a->low.hi : -HUGE_VAL,
        .high = a->is_limited ? a->high.hi : HUGE_VAL,
        .is_possible = abs(a->k) < 1000 && a->from > -far && a->from < far &&
                       (!a->is_limited || (a->low.lo == 0 && a->high.lo == 0)),
        .is_shift = a->k >= 0 && a->k < 40,
        .k = (unsigned)a->k,
    };
    if (q.is_possible && q.is_shift)
        pfd_fast_axis_set_range(&q, a);
    return q;
}

/* The cell of a coordinate; SIZE_MAX, or any number from n on: it has none. The
 * cast of a double outside of int64_t would be undefined. */
static inline size_t pfd_fast_axis_cell(const struct pfd_fast_axis *q,
                                        double at)
{
    double d = at * q->scale;
    if (!(fabs(d) < 0x1p52 && at >= q->low && at <= q->high))
        return SIZE_MAX;
    int64_t place = (int64_t)d;
    place -= d < (double)place || (d == 0 && at < 0);
    return (size_t)(place - q->from);
}

static inline size_t pfd_fast_axis_shift(const struct pfd_fast_axis *q,
                                         int64_t at)
{
    return (uint64_t)at - (uint64_t)q->least < q->behind
               ? (size_t)((at >> q->k) - q->from)
               : SIZE_MAX;
}

#endif
