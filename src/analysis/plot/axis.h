/* SPDX-License-Identifier: MIT */
/*
 * One direction of a grid: maps a coordinate to a cell. Cells are 2^k wide and
 * begin at multiples of that. The range need not be known beforehand: when it
 * needs more cells than the limit, each pair of cells becomes one. Each old
 * cell lies in exactly one new cell, so no point is reduced twice.
 */
#ifndef PFD_AXIS_H
#define PFD_AXIS_H

#include <stddef.h>
#include <stdlib.h>

#include "analysis/plot/double_double.h"

typedef __int128 pfd_place; /* of a cell: the coordinate / 2^k, rounded down */

struct pfd_axis {
    int k;
    double scale[2]; /* their product is 2^-k */
    size_t max;      /* limit of cells */
    bool is_limited; /* to these coordinates, both inclusive: */
    struct pfd_double_double low;
    struct pfd_double_double high;
    pfd_place from;    /* of the first allocated cell */
    size_t n;          /* allocated cells */
    pfd_place seen[2]; /* the first and the last used cell, as of the last
                          refresh; if limited: the cells of the limits */
    bool is_used;
};

enum {
    PFD_AXIS_LEAST = -1074 /* the exponent of the smallest double */
};

/* whole: no cell is narrower than 1. */
void pfd_axis_init(struct pfd_axis *ret, size_t max, bool whole);

/* Limits the axis; coordinates beyond are left out. */
void pfd_axis_limit(struct pfd_axis *axis, struct pfd_double_double low,
                    struct pfd_double_double high);

/* The place of a finite coordinate. */
pfd_place pfd_axis_place_slowly(const struct pfd_axis *axis,
                                struct pfd_double_double at);

/* Doubles the width of cells so many times. */
void pfd_axis_coarsen(struct pfd_axis *axis, int times);

/*
 * The changes that give a coordinate a place: how many times to coarsen first,
 * then which cells to allocate. The axis is not changed.
 */
struct pfd_axis_growth {
    int times;
    pfd_place from;
    size_t n;
    pfd_place seen[2];
};
struct pfd_axis_growth pfd_axis_grow(const struct pfd_axis *axis,
                                     struct pfd_double_double at, size_t max);

/* The coordinate where a cell begins. */
struct pfd_double_double pfd_axis_start(const struct pfd_axis *axis,
                                        pfd_place place);

static inline size_t pfd_axis_used(const struct pfd_axis *axis)
{
    return axis->is_used ? (size_t)(axis->seen[1] - axis->seen[0]) + 1 : 0;
}

/* The cell of a coordinate, counted from `from`; SIZE_MAX: it has none
 * (yet). */
static inline size_t pfd_axis_cell(const struct pfd_axis *axis,
                                   struct pfd_double_double at)
{
    double d = at.hi * axis->scale[0] * axis->scale[1];
    pfd_place place;
    if (__builtin_expect(fabs(d) < 0x1p52 && at.lo == 0, 1)) {
        int64_t down = (int64_t)d;
        place = down - (d < (double)down || (d == 0 && at.hi < 0));
    } else {
        place = pfd_axis_place_slowly(axis, at);
    }
    return place >= axis->from && place - axis->from < (pfd_place)axis->n
               ? (size_t)(place - axis->from)
               : SIZE_MAX;
}

/* Round numbers along an axis, with their places. */

enum {
    PFD_TICKS_MAX = 16,
    PFD_TICK_TEXT = 48,
};

struct pfd_ticks {
    struct pfd_tick {
        double share; /* of the way from the axis' start to its end */
        char text[PFD_TICK_TEXT];
    } all[PFD_TICKS_MAX]; /* [n] */
    size_t n;
};

/* Ticks of the used cells; a cell of width 1 has its number in its middle. */
void pfd_ticks_of_axis(struct pfd_ticks *ret, const struct pfd_axis *axis,
                       size_t most);

/* Ticks from low to high. */
void pfd_ticks_of_range(struct pfd_ticks *ret, struct pfd_double_double low,
                        struct pfd_double_double high, size_t most, bool log);

/*
 * An axis for coordinates that are doubles or integers of 32 bits: finds the
 * cells of most points without a call.
 */

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
