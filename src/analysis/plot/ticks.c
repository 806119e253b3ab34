/* SPDX-License-Identifier: MIT */
#include "analysis/plot/ticks.h"

#include <stdio.h>

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
