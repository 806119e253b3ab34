/* SPDX-License-Identifier: MIT */
/*
 * An axis as far as doubles alone, or integers of 32 bits, need it: the cells
 * that most points fall into are found without a question.
 */
#ifndef PFD_QUICK_H
#define PFD_QUICK_H

#include <stdlib.h>

#include "plot/axis.h"

struct pfd_quick {
    double scale;
    int64_t from;
    uint64_t n;
    double low;
    double high;
    bool is_possible;
    bool
        is_shift; /* cells are 2 to the power of k wide, and k is not below 0 */
    unsigned k;
    int64_t least; /* integers of 32 bits that are between low and high */
    int64_t most;
};

static inline struct pfd_quick pfd_quick_of(const struct pfd_axis *a)
{
    const pfd_place far = (pfd_place)1 << 52;
    const double all = 0x1p40; /* more than 32 bits need */
    return (struct pfd_quick){
        .scale = a->scale[0] * a->scale[1],
        .from = (int64_t)a->from,
        .n = a->n,
        .low = a->is_limited ? a->low.hi : -HUGE_VAL,
        .high = a->is_limited ? a->high.hi : HUGE_VAL,
        .is_possible = abs(a->k) < 1000 && a->from > -far && a->from < far &&
                       (!a->is_limited || (a->low.lo == 0 && a->high.lo == 0)),
        .is_shift = a->k >= 0 && a->k < 40,
        .k = (unsigned)a->k,
        .least = a->is_limited ? (int64_t)ceil(fmax(fmin(a->low.hi, all), -all))
                               : INT64_MIN,
        .most = a->is_limited
                    ? (int64_t)floor(fmax(fmin(a->high.hi, all), -all))
                    : INT64_MAX,
    };
}

/* SIZE_MAX, or something as great: there is none. A cast of what is no place
 * would be undefined. */
static inline size_t pfd_quick_cell(const struct pfd_quick *q, double at)
{
    double d = at * q->scale;
    if (!(fabs(d) < 0x1p52 && at >= q->low && at <= q->high))
        return SIZE_MAX;
    int64_t place = (int64_t)d;
    place -= d < (double)place || (d == 0 && at < 0);
    return (size_t)(place - q->from);
}

static inline size_t pfd_quick_shift(const struct pfd_quick *q, int64_t at)
{
    return at >= q->least && at <= q->most ? (size_t)((at >> q->k) - q->from)
                                           : SIZE_MAX;
}

#endif
