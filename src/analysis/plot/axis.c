/* SPDX-License-Identifier: MIT */
#include "analysis/plot/axis.h"

#include <stdio.h>

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

/* 1, 2 or 5 times a power of ten, at least this. */
static double round_step(double least)
{
    static const double steps[] = { 1, 2, 5, 10 };
    double ten = pow(10, floor(log10(least)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] * ten >= least * (1 - 1e-9))
            return steps[i] * ten;
    }
    return 10 * ten;
}

static void add(struct pfd_ticks *t, double share, double number)
{
    if (t->n == PFD_TICKS_MAX)
        return;
    struct pfd_tick *tick = &t->all[t->n++];
    tick->share = share;
    snprintf(tick->text, sizeof tick->text, "%.10g", number == 0 ? 0 : number);
}

static void add_exact(struct pfd_ticks *t, double share,
                      struct pfd_double_double number)
{
    if (t->n == PFD_TICKS_MAX)
        return;
    struct pfd_tick *tick = &t->all[t->n++];
    tick->share = share;
    pfd_double_double_print(tick->text, number);
}

/* Can doubles represent the numbers from low to high, and steps between
 * them? */
static bool is_round(struct pfd_double_double low,
                     struct pfd_double_double high)
{
    double greatest = fmax(fabs(low.hi), fabs(high.hi));
    double all = pfd_double_double_minus(high, low);
    return isfinite(all) && all > greatest * 1e-9 && all > 1e-290;
}

static void add_round(struct pfd_ticks *t, double low, double high, double from,
                      double all, size_t most, double least)
{
    most = most < 2 ? 2 : most >= PFD_TICKS_MAX ? PFD_TICKS_MAX - 1 : most;
    double step = round_step(fmax((high - low) / (double)most, least));
    double first = ceil(low / step - 1e-9);
    for (size_t i = 0; i < PFD_TICKS_MAX; i++) {
        double number = (first + (double)i) * step;
        if (number > high + step * 1e-9)
            break;
        add(t, (number - from) / all, number);
    }
}

void pfd_ticks_of_axis(struct pfd_ticks *ret, const struct pfd_axis *axis,
                       size_t most)
{
    *ret = (struct pfd_ticks){ 0 };
    double cells = (double)pfd_axis_used(axis);
    struct pfd_double_double low = pfd_axis_start(axis, axis->seen[0]);
    struct pfd_double_double last = pfd_axis_start(axis, axis->seen[1]);
    struct pfd_double_double end = pfd_axis_start(axis, axis->seen[1] + 1);
    bool whole = axis->k == 0;
    if (is_round(low, end)) {
        double from = whole ? low.hi - 0.5 : low.hi;
        add_round(ret, low.hi, whole ? last.hi : end.hi, from,
                  pfd_double_double_minus(end, low), most,
                  axis->k >= 0 ? 1 : 0);
        return;
    }
    add_exact(ret, whole ? 0.5 / cells : 0, low);
    if (cells > 1 || !whole)
        add_exact(ret, whole ? 1 - 0.5 / cells : 1, whole ? last : end);
}

static void add_powers(struct pfd_ticks *t, double low, double high)
{
    int first = (int)ceil(log10(low) - 1e-9);
    int last = (int)floor(log10(high) + 1e-9);
    int step = (last - first) / 8 + 1;
    double all = log(high) - log(low);
    for (int e = first; e <= last; e += step)
        add(t, (log(10) * e - log(low)) / all, pow(10, e));
}

void pfd_ticks_of_range(struct pfd_ticks *ret, struct pfd_double_double low,
                        struct pfd_double_double high, size_t most, bool log)
{
    *ret = (struct pfd_ticks){ 0 };
    if (log && low.hi > 0 && high.hi > low.hi)
        add_powers(ret, low.hi, high.hi);
    if (ret->n >= 2)
        return;
    ret->n = 0;
    if (!log && is_round(low, high)) {
        add_round(ret, low.hi, high.hi, low.hi,
                  pfd_double_double_minus(high, low), most, 0);
    }
    if (ret->n >= 2)
        return;
    ret->n = 0;
    add_exact(ret, 0, low);
    if (pfd_double_double_compare(low, high) != 0)
        add_exact(ret, 1, high);
}
