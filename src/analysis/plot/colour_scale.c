/* SPDX-License-Identifier: MIT */
#include "analysis/plot/colour_scale.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Calls take for each cell that has a number. */
static bool collect(struct pfd_colour_scale *s, const struct pfd_grid *grid,
                    size_t n_all)
{
    struct pfd_double_double v;
    s->ranks = malloc((n_all + 1) * sizeof *s->ranks);
    for (size_t p = 0; s->ranks && p < grid->n_panels; p++) {
        for (size_t i = 0; i < grid->x.n * grid->y.n && s->n_ranks < n_all;
             i++) {
            const struct pfd_grid_cell *c = &grid->panels[p][i];
            if (pfd_grid_read_cell(c, grid->reducer, &v) == PFD_GRID_NUMBER)
                s->ranks[s->n_ranks++] = v.hi;
        }
    }
    if (s->ranks)
        qsort(s->ranks, s->n_ranks, sizeof *s->ranks, compare);
    return s->ranks != NULL;
}

bool pfd_colour_scale_init(struct pfd_colour_scale *ret,
                           enum pfd_plot_scale kind,
                           const struct pfd_grid *grid,
                           const struct pfd_grid_sums *sums,
                           const struct pfd_double_double *low,
                           const struct pfd_double_double *high)
{
    *ret = (struct pfd_colour_scale){
        .kind = kind,
        .is_empty = !sums->any,
        .low = low ? *low : sums->low,
        .high = high ? *high : sums->high,
    };
    if (kind == PFD_SCALE_LOG && ret->low.hi <= 0)
        ret->low = sums->least_above_0;
    if (kind == PFD_SCALE_LOG && ret->low.hi <= 0)
        ret->is_empty = true;
    return kind != PFD_SCALE_EQUAL ||
           collect(ret, grid, (size_t)sums->n[PFD_GRID_NUMBER]);
}

void pfd_colour_scale_deinit(struct pfd_colour_scale *colour_scale)
{
    free(colour_scale->ranks);
    *colour_scale = (struct pfd_colour_scale){ 0 };
}

static double clamp(double share)
{
    return share > 0 ? share < 1 ? share : 1 : 0;
}

/* The rank of a number, in the middle of equal ones. */
static double rank_of(const struct pfd_colour_scale *s, double d)
{
    size_t ends[2]; /* numbers below it, and numbers not above it */
    for (int i = 0; i < 2; i++) {
        size_t low = 0;
        size_t high = s->n_ranks;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            bool below = i ? s->ranks[middle] <= d : s->ranks[middle] < d;
            low = below ? middle + 1 : low;
            high = below ? high : middle;
        }
        ends[i] = low;
    }
    if (s->n_ranks < 2 || ends[1] - ends[0] == s->n_ranks)
        return 0.5;
    /* The least is at 0 and the greatest at 1, however often they occur. */
    double first = ends[0] == 0 ? 0 : (double)(ends[0] + ends[1]) / 2;
    if (ends[1] == s->n_ranks)
        first = (double)s->n_ranks;
    return first / (double)s->n_ranks;
}

/* The number's share of the range, also if the range exceeds a double. */
static double linear(struct pfd_double_double low,
                     struct pfd_double_double high, struct pfd_double_double at)
{
    double all = pfd_double_double_minus(high, low);
    if (isfinite(all))
        return all > 0 ? pfd_double_double_minus(at, low) / all : 0.5;
    return (at.hi / 4 - low.hi / 4) / (high.hi / 4 - low.hi / 4);
}

double pfd_colour_scale_share(const struct pfd_colour_scale *colour_scale,
                              struct pfd_double_double number)
{
    const struct pfd_colour_scale *s = colour_scale;
    const struct pfd_double_double at = number;
    switch (s->kind) {
    case PFD_SCALE_LOG:
        if (s->is_empty || at.hi <= 0)
            return 0;
        return clamp(s->high.hi > s->low.hi
                         ? log(at.hi / s->low.hi) / log(s->high.hi / s->low.hi)
                         : 0.5);
    case PFD_SCALE_EQUAL:
        return clamp(rank_of(s, at.hi));
    case PFD_SCALE_LINEAR:
        break;
    }
    return clamp(linear(s->low, s->high, at));
}

struct pfd_double_double pfd_colour_scale_number(
    const struct pfd_colour_scale *s, double share)
{
    if (share <= 0 || s->is_empty)
        return s->low;
    if (share >= 1)
        return s->high;
    if (s->kind == PFD_SCALE_EQUAL && s->n_ranks) {
        size_t i = (size_t)(share * (double)(s->n_ranks - 1) + 0.5);
        return pfd_double_double_round(s->ranks[i]);
    }
    if (s->kind == PFD_SCALE_LOG) {
        return pfd_double_double_round(
            exp(log(s->low.hi) + share * (log(s->high.hi) - log(s->low.hi))));
    }
    return pfd_double_double_round(s->low.hi * (1 - share) +
                                   s->high.hi * share);
}
