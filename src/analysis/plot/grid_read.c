/* SPDX-License-Identifier: MIT */
/* Reads a grid. */
#include "analysis/plot/grid.h"

/* The sum of a cell's values, with NaN and infinities. */
static struct pfd_double_double whole_sum(const struct pfd_grid *grid,
                                          size_t panel, size_t i)
{
    uint64_t odd = grid->panels[panel][i].order;
    const uint64_t both = PFD_GRID_HAS_PLUS_INF | PFD_GRID_HAS_MINUS_INF;
    if (odd & PFD_GRID_HAS_NAN || (odd & both) == both)
        return pfd_double_double_round((double)NAN);
    if (odd & both) {
        const double inf = (double)INFINITY;
        return pfd_double_double_round(odd & PFD_GRID_HAS_PLUS_INF ? inf
                                                                   : -inf);
    }
    return pfd_cell_sums_round(&grid->cell_sums, panel, i);
}

enum pfd_grid_kind pfd_grid_read_cell(const struct pfd_grid_cell *cell,
                                      enum pfd_reducer reducer,
                                      struct pfd_double_double *ret)
{
    if (!cell || !cell->n)
        return PFD_GRID_EMPTY;
    *ret = reducer == PFD_REDUCE_COUNT ? pfd_double_double_unsigned(cell->n)
                                       : cell->value;
    if (isnan(ret->hi))
        return PFD_GRID_NAN;
    if (isinf(ret->hi))
        return ret->hi < 0 ? PFD_GRID_MINUS_INF : PFD_GRID_PLUS_INF;
    if (reducer == PFD_REDUCE_MEAN && cell->n > 1) {
        *ret = pfd_double_double_round((ret->hi + ret->lo) / (double)cell->n);
    }
    return PFD_GRID_NUMBER;
}

const struct pfd_grid_cell *pfd_grid_at(const struct pfd_grid *grid,
                                        size_t panel, pfd_place x, pfd_place y)
{
    const struct pfd_axis *ax = &grid->x;
    const struct pfd_axis *ay = &grid->y;
    bool is_there = x >= ax->from && x - ax->from < (pfd_place)ax->n &&
                    y >= ay->from && y - ay->from < (pfd_place)ay->n &&
                    panel < grid->n_panels && grid->panels[panel];
    return is_there ? pfd_grid_cell_at(grid->panels[panel], ax, ay, x, y)
                    : NULL;
}

static void sum_number(struct pfd_grid_sums *s, struct pfd_double_double v)
{
    if (!s->any || pfd_double_double_compare(v, s->low) < 0)
        s->low = v;
    if (!s->any || pfd_double_double_compare(v, s->high) > 0)
        s->high = v;
    s->any = true;
    if (v.hi <= 0) {
        s->n_not_above_0++;
    } else if (s->least_above_0.hi == 0 ||
               pfd_double_double_compare(v, s->least_above_0) < 0) {
        s->least_above_0 = v;
    }
}

static void sum_cell(struct pfd_grid *grid, size_t panel, size_t i,
                     struct pfd_grid_sums *s)
{
    struct pfd_double_double v;
    struct pfd_grid_cell *c = &grid->panels[panel][i];
    if (pfd_grid_is_sum(grid))
        c->value = whole_sum(grid, panel, i);
    enum pfd_grid_kind kind = pfd_grid_read_cell(c, grid->reducer, &v);
    s->n[kind]++;
    s->n[PFD_GRID_EMPTY]--;
    s->n_several += c->n > 1;
    if (kind == PFD_GRID_NUMBER)
        sum_number(s, v);
}

void pfd_grid_sum(struct pfd_grid *grid, struct pfd_grid_sums *ret)
{
    const struct pfd_axis *x = &grid->x;
    const struct pfd_axis *y = &grid->y;
    struct pfd_grid_sums *s = &grid->all;
    if (grid->has_new) {
        pfd_grid_refresh(grid);
        bool is_used = x->is_used && y->is_used;
        size_t n = is_used ? x->n * y->n : 0;
        *s = (struct pfd_grid_sums){ 0 };
        if (is_used) {
            s->n[PFD_GRID_EMPTY] =
                pfd_axis_used(x) * pfd_axis_used(y) * grid->n_panels;
        }
        for (size_t p = 0; p < grid->n_panels && n; p++) {
            for (size_t i = 0; (i = pfd_grid_next(grid->panels[p], n, i)) < n;
                 i++)
                sum_cell(grid, p, i, s);
        }
        grid->has_new = false;
    }
    *ret = *s;
}
