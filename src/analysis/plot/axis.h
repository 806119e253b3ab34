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

#endif
