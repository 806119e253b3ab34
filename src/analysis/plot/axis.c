/* SPDX-License-Identifier: MIT */
#include "analysis/plot/axis.h"

static void set_k(struct pfd_axis *axis, int k)
{
    int half = k / 2;
    axis->k = k;
    axis->scale[0] = ldexp(1, -half);
    axis->scale[1] = ldexp(1, half - k);
}

void pfd_axis_init(struct pfd_axis *ret, size_t max, bool whole)
{
    *ret = (struct pfd_axis){ .max = max };
    set_k(ret, whole ? 0 : PFD_AXIS_LEAST);
}

/* Rounds down a double below 2^127. */
static pfd_place down(double d)
{
    pfd_place i = (pfd_place)d;
    return i - ((double)i > d);
}

static double scaled(const struct pfd_axis *axis, double d)
{
    return d * axis->scale[0] * axis->scale[1];
}

pfd_place pfd_axis_place_slowly(const struct pfd_axis *axis,
                                struct pfd_double_double at)
{
    double hi = scaled(axis, at.hi);
    double lo = scaled(axis, at.lo);
    if (!(fabs(hi) < 0x1p120))
        return hi < 0 ? -((pfd_place)1 << 120) : (pfd_place)1 << 120;
    pfd_place place = down(hi);
    double rest = (hi - (double)place) + lo;
    if (hi == 0 && at.hi < 0) /* below the smallest double */
        return -1;
    return place + down(rest);
}

/* The smallest k: cells that need more than 2^100 places are of no use. */
static int least_k(struct pfd_double_double at)
{
    int exponent = at.hi != 0 ? ilogb(at.hi) : PFD_AXIS_LEAST;
    int k = exponent - 100;
    return k < PFD_AXIS_LEAST ? PFD_AXIS_LEAST : k;
}

void pfd_axis_coarsen(struct pfd_axis *axis, int times)
{
    set_k(axis, axis->k + times);
    for (int i = 0; i < 2; i++) {
        axis->seen[i] = times < 127         ? axis->seen[i] >> times
                        : axis->seen[i] < 0 ? -1
                                            : 0;
    }
}

static bool fits(const pfd_place seen[2], size_t max)
{
    return seen[1] - seen[0] < (pfd_place)max;
}

void pfd_axis_limit(struct pfd_axis *axis, struct pfd_double_double low,
                    struct pfd_double_double high)
{
    int k = least_k(fabs(low.hi) > fabs(high.hi) ? low : high);
    axis->is_limited = true;
    axis->low = low;
    axis->high = high;
    if (axis->k < k)
        set_k(axis, k);
    for (;;) {
        axis->seen[0] = pfd_axis_place_slowly(axis, low);
        axis->seen[1] = pfd_axis_place_slowly(axis, high);
        if (fits(axis->seen, axis->max))
            break;
        set_k(axis, axis->k + 1);
    }
    axis->is_used = true;
}

struct pfd_axis_growth pfd_axis_grow(const struct pfd_axis *axis,
                                     struct pfd_double_double at, size_t max)
{
    struct pfd_axis a = *axis;
    int k = least_k(at);
    if (k > a.k)
        pfd_axis_coarsen(&a, k - a.k);
    pfd_place place = pfd_axis_place_slowly(&a, at);
    if (!a.is_used) {
        a.seen[0] = place;
        a.seen[1] = place;
    }
    bool is_left = place < a.seen[0];
    a.seen[0] = is_left ? place : a.seen[0];
    a.seen[1] = place > a.seen[1] ? place : a.seen[1];
    while (!fits(a.seen, max))
        pfd_axis_coarsen(&a, 1);
    size_t used = (size_t)(a.seen[1] - a.seen[0]) + 1;
    size_t n = axis->is_limited ? used : 2 * used;
    n = n > max ? max : n;
    return (struct pfd_axis_growth){
        .times = a.k - axis->k,
        .from = is_left ? a.seen[1] - (pfd_place)n + 1 : a.seen[0],
        .n = n,
        .seen = { a.seen[0], a.seen[1] },
    };
}

struct pfd_double_double pfd_axis_start(const struct pfd_axis *axis,
                                        pfd_place place)
{
    /* In two halves: a double has only 53 bits. */
    double high = (double)(place >> 32) * 4294967296.0;
    double low = (double)(uint32_t)place;
    struct pfd_double_double w = pfd_double_double_add2(high, low);
    return pfd_double_double_add2(ldexp(w.hi, axis->k), ldexp(w.lo, axis->k));
}
