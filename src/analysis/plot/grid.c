/* SPDX-License-Identifier: MIT */
#include "analysis/plot/grid.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/plot/axis.h"
#include "core/base/large_pages.h"

void pfd_grid_init(struct pfd_grid *ret, enum pfd_reducer reducer)
{
    *ret = (struct pfd_grid){ .reducer = reducer };
    pfd_axis_init(&ret->x, PFD_GRID_CELLS_MAX, true);
    pfd_axis_init(&ret->y, PFD_GRID_CELLS_MAX, true);
}

static void free_cells(const struct pfd_grid *grid, struct pfd_grid_cell *cells)
{
    pfd_zeroed_free(cells, pfd_grid_bytes(grid->x.n * grid->y.n));
}

void pfd_grid_deinit(struct pfd_grid *grid)
{
    for (size_t i = 0; i < grid->n_panels; i++)
        free_cells(grid, grid->panels[i]);
    free(grid->panels);
    pfd_cell_sums_deinit(&grid->cell_sums);
    *grid = (struct pfd_grid){ 0 };
}

/* Sets the failure of an allocation; true: there is none. */
static bool take_room(struct pfd_grid *grid, enum pfd_cell_sums_room room)
{
    grid->failed |= room == PFD_CELL_SUMS_NO_MEMORY;
    grid->is_too_wide |= room == PFD_CELL_SUMS_TOO_WIDE;
    return room == PFD_CELL_SUMS_OK;
}

/* ---- cells ---- */

static bool takes(enum pfd_reducer reducer, uint64_t old, uint64_t new)
{
    return reducer == PFD_REDUCE_FIRST ? new < old : new >= old;
}

/* Limits the count of a cell, as workers' cells do: the result does not depend
 * on which of them counted. */
static void limit(struct pfd_grid_cell *cell, enum pfd_reducer reducer)
{
    bool is_limited = reducer == PFD_REDUCE_FIRST || reducer == PFD_REDUCE_LAST;
    if (is_limited && cell->n > PFD_GRID_SEVERAL)
        cell->n = PFD_GRID_SEVERAL;
}

/* Merges the points of b into a. */
static void merge(struct pfd_grid_cell *a, const struct pfd_grid_cell *b,
                  enum pfd_reducer reducer)
{
    if (!a->n || !b->n) {
        *a = a->n ? *a : *b;
        limit(a, reducer);
        return;
    }
    switch (reducer) {
    case PFD_REDUCE_FIRST:
    case PFD_REDUCE_LAST:
        if (takes(reducer, a->order, b->order)) {
            a->value = b->value;
            a->order = b->order;
        }
        break;
    case PFD_REDUCE_MIN:
    case PFD_REDUCE_MAX:
        a->value = pfd_double_double_choose(a->value, b->value,
                                            reducer == PFD_REDUCE_MIN);
        break;
    case PFD_REDUCE_SUM:
    case PFD_REDUCE_MEAN:
        a->order |= b->order;
        break;
    case PFD_REDUCE_NAN:
        a->value = pfd_double_double_add(a->value, b->value);
        break;
    case PFD_REDUCE_COUNT:
        break;
    }
    a->n += b->n;
    limit(a, reducer);
}

static uint64_t odd_bit(double value)
{
    if (isnan(value))
        return PFD_GRID_HAS_NAN;
    if (isinf(value))
        return value < 0 ? PFD_GRID_HAS_MINUS_INF : PFD_GRID_HAS_PLUS_INF;
    return 0;
}

static void add_part(struct pfd_grid *grid, size_t panel, size_t i,
                     struct pfd_units part)
{
    take_room(grid, pfd_cell_sums_add(&grid->cell_sums, panel, i, part));
}

/* Adds the value to the sum of cell i. */
static void add_number(struct pfd_grid *grid, size_t panel, size_t i,
                       struct pfd_double_double value)
{
    struct pfd_grid_cell *cell = &grid->panels[panel][i];
    uint64_t odd = odd_bit(value.hi);
    cell->n++;
    cell->order |= odd;
    if (odd)
        return;
    add_part(grid, panel, i, pfd_units_of(value.hi));
    if (value.lo != 0)
        add_part(grid, panel, i, pfd_units_of(value.lo));
}

static void add_to_cell(struct pfd_grid *grid, size_t panel, size_t i,
                        struct pfd_double_double value, uint64_t order)
{
    struct pfd_grid_cell *cell = &grid->panels[panel][i];
    struct pfd_grid_cell one = { value, order, 1 };
    if (grid->reducer == PFD_REDUCE_NAN)
        one.value = pfd_double_double_round(isnan(value.hi) ? 1 : 0);
    if (grid->reducer == PFD_REDUCE_COUNT) {
        cell->n++;
    } else if (pfd_grid_is_sum(grid)) {
        add_number(grid, panel, i, value);
    } else {
        merge(cell, &one, grid->reducer);
    }
}

/* ---- allocation ---- */

static struct pfd_grid_cell *make_cells(size_t n, bool is_whole)
{
    struct pfd_grid_cell *cells = pfd_zeroed_new(pfd_grid_bytes(n));
    if (is_whole)
        pfd_zeroed_whole(cells, pfd_grid_bytes(n));
    return cells;
}

/* Do more than a quarter of the blocks have points? Then large pages waste
 * little. */
static bool is_whole(const struct pfd_grid *grid)
{
    size_t n = grid->x.n * grid->y.n;
    size_t n_blocks = n / PFD_GRID_BLOCK + 1;
    size_t used = 0;
    for (size_t p = 0; p < grid->n_panels && grid->panels[p]; p++) {
        const uint8_t *blocks = pfd_grid_blocks(grid->panels[p], n);
        for (size_t i = 0; i < n_blocks; i++)
            used += blocks[i];
    }
    return used > n_blocks * grid->n_panels / 4;
}

static pfd_place shifted(pfd_place place, int times)
{
    return times < 127 ? place >> times : place < 0 ? -1 : 0;
}

/* Moves the cells of a panel, and their sums, to their places in the grown
 * axes. */
static struct pfd_grid_cell *move_panel(const struct pfd_grid *grid,
                                        size_t panel, const struct pfd_axis *x,
                                        const struct pfd_axis *y,
                                        struct pfd_cell_sums *cell_sums)
{
    struct pfd_grid_cell *old = grid->panels[panel];
    size_t n_old = old ? grid->x.n * grid->y.n : 0;
    size_t n = x->n * y->n;
    struct pfd_grid_cell *new = make_cells(n, cell_sums->is_whole);
    for (size_t i = 0;
         new &&n_old && (i = pfd_grid_next(old, n_old, i)) < n_old; i++) {
        pfd_place at_x = grid->x.from + (pfd_place)(i % grid->x.n);
        pfd_place at_y = grid->y.from + (pfd_place)(i / grid->x.n);
        struct pfd_grid_cell *to =
            pfd_grid_cell_at(new, x, y, shifted(at_x, x->k - grid->x.k),
                             shifted(at_y, y->k - grid->y.k));
        merge(to, &old[i], grid->reducer);
        if (pfd_grid_is_sum(grid)) {
            pfd_cell_sums_join(cell_sums, panel, (size_t)(to - new),
                               &grid->cell_sums, i);
        }
        pfd_grid_blocks(new, n)[(size_t)(to - new) / PFD_GRID_BLOCK] = 1;
    }
    return new;
}

static struct pfd_axis apply(const struct pfd_axis *axis,
                             const struct pfd_axis_growth *growth)
{
    struct pfd_axis a = *axis;
    if (growth->times)
        pfd_axis_coarsen(&a, growth->times);
    a.from = growth->from;
    a.n = growth->n;
    a.seen[0] = growth->seen[0];
    a.seen[1] = growth->seen[1];
    a.is_used = true;
    return a;
}

static size_t used_by(const struct pfd_axis_growth *growth)
{
    return (size_t)(growth->seen[1] - growth->seen[0]) + 1;
}

/* Cells to allocate in advance, if the limit is below twice both axes: the
 * larger share for an axis that grows, so that few copies are made. */
static size_t with_spare(size_t used, double spare, bool grows, bool both)
{
    double share = !both ? (grows ? 0.75 : 0.25) : 0.5;
    return (size_t)((double)used * pow(spare, share));
}

static size_t most_of(const struct pfd_grid *grid, const struct pfd_axis *axis)
{
    size_t most = axis->max >> grid->n_halved;
    return most ? most : 1;
}

/* The limit of columns to allocate, since every row has them all: the used
 * ones, and twice as many as were added, or a quarter more. */
static size_t columns_worth(const struct pfd_axis *axis,
                            const struct pfd_axis_growth *growth)
{
    size_t used = used_by(growth);
    size_t grown = growth->times ? used : used - pfd_axis_used(axis);
    return used + (2 * grown > used / 4 ? 2 * grown : used / 4);
}

/* Grows both axes to include the point, within the limit of cells. The result
 * depends on the set of points, not on their order. */
static void grow_both(struct pfd_grid *grid, struct pfd_double_double x,
                      struct pfd_double_double y, struct pfd_axis_growth *of_x,
                      struct pfd_axis_growth *of_y)
{
    size_t all = PFD_GRID_CELLS_MAX / (grid->n_panels ? grid->n_panels : 1);
    size_t max_x = most_of(grid, &grid->x);
    size_t max_y = most_of(grid, &grid->y);
    for (;;) {
        *of_x = pfd_axis_grow(&grid->x, x, max_x);
        *of_y = pfd_axis_grow(&grid->y, y, max_y);
        if (of_x->n * of_y->n <= all) {
            size_t n = columns_worth(&grid->x, of_x);
            if (n < of_x->n)
                *of_x = pfd_axis_grow(&grid->x, x, n);
            return;
        }
        size_t used_x = used_by(of_x);
        size_t used_y = used_by(of_y);
        if (used_x * used_y <= all) {
            double spare = (double)all / (double)(used_x * used_y);
            bool x_grows = used_x > pfd_axis_used(&grid->x);
            bool y_grows = used_y > pfd_axis_used(&grid->y);
            bool both = x_grows == y_grows;
            max_x = with_spare(used_x, spare, x_grows, both);
            max_y = with_spare(used_y, spare, y_grows, both);
            max_x = max_x > of_x->n ? of_x->n : max_x;
            max_y = max_y > of_y->n ? of_y->n : max_y;
        } else {
            grid->n_halved++;
            max_x = most_of(grid, &grid->x);
            max_y = most_of(grid, &grid->y);
        }
    }
}

/* Extends columns [2] to the first and last used column of a row; columns
 * between them need no look. False: the row is empty. */
static bool look_at_row(const struct pfd_grid *grid, size_t panel, size_t row,
                        size_t columns[2])
{
    struct pfd_grid_cell *cells = grid->panels[panel];
    size_t n = grid->x.n * grid->y.n;
    size_t begin = row * grid->x.n;
    size_t end = begin + grid->x.n;
    size_t first = pfd_grid_next_before(cells, n, begin, end);
    if (first == end)
        return false;
    columns[0] = first - begin < columns[0] ? first - begin : columns[0];
    size_t last = first;
    size_t i = begin + columns[1] > last ? begin + columns[1] : last;
    for (; (i = pfd_grid_next_before(cells, n, i, end)) < end; i++)
        last = i;
    columns[1] = last - begin > columns[1] ? last - begin : columns[1];
    return true;
}

void pfd_grid_refresh(struct pfd_grid *grid)
{
    struct pfd_axis *x = &grid->x;
    struct pfd_axis *y = &grid->y;
    size_t columns[2] = { SIZE_MAX, 0 };
    size_t rows[2] = { SIZE_MAX, 0 };
    for (size_t p = 0; p < grid->n_panels && x->n; p++) {
        for (size_t j = 0; j < y->n; j++) {
            if (!look_at_row(grid, p, j, columns))
                continue;
            rows[0] = j < rows[0] ? j : rows[0];
            rows[1] = j > rows[1] ? j : rows[1];
        }
    }
    if (rows[0] == SIZE_MAX)
        return;
    if (!x->is_limited) {
        x->seen[0] = x->from + (pfd_place)columns[0];
        x->seen[1] = x->from + (pfd_place)columns[1];
    }
    if (!y->is_limited) {
        y->seen[0] = y->from + (pfd_place)rows[0];
        y->seen[1] = y->from + (pfd_place)rows[1];
    }
}

/* Allocates sums for so many cells, if the grid has sums; sets the grid's
 * failure. */
static bool make_sums(struct pfd_grid *grid, size_t n,
                      struct pfd_cell_sums *ret)
{
    *ret = (struct pfd_cell_sums){ .is_whole = is_whole(grid) };
    return !pfd_grid_is_sum(grid) ||
           take_room(grid, pfd_cell_sums_like(&grid->cell_sums, grid->n_panels,
                                              n, ret->is_whole, ret));
}

/* Moves all panels, or none. */
static bool move_all(struct pfd_grid *grid, const struct pfd_axis *x,
                     const struct pfd_axis *y)
{
    size_t n = 0;
    struct pfd_cell_sums cell_sums;
    if (!make_sums(grid, x->n * y->n, &cell_sums))
        return false;
    struct pfd_grid_cell **moved =
        calloc(grid->n_panels + 1, sizeof(struct pfd_grid_cell *));
    while (moved && n < grid->n_panels &&
           (moved[n] = move_panel(grid, n, x, y, &cell_sums)))
        n++;
    if (!moved || n < grid->n_panels) {
        while (n)
            pfd_zeroed_free(moved[--n], pfd_grid_bytes(x->n * y->n));
        free(moved);
        pfd_cell_sums_deinit(&cell_sums);
        grid->failed = true;
        return false;
    }
    for (size_t i = 0; i < n; i++)
        free_cells(grid, grid->panels[i]);
    free(grid->panels);
    grid->panels = moved;
    pfd_cell_sums_deinit(&grid->cell_sums);
    grid->cell_sums = cell_sums;
    return true;
}

/* Are there only more rows, behind the others? */
static bool is_taller(const struct pfd_grid *grid, const struct pfd_axis *x,
                      const struct pfd_axis *y)
{
    return grid->n_panels == 1 && grid->x.n && grid->y.n && x->k == grid->x.k &&
           x->from == grid->x.from && x->n == grid->x.n && y->k == grid->y.k &&
           y->from == grid->y.from && y->n > grid->y.n;
}

/* Adds rows only: cells stay in place, except for their blocks. */
static bool extend(struct pfd_grid *grid, const struct pfd_axis *y)
{
    size_t n_old = grid->x.n * grid->y.n;
    size_t n = grid->x.n * y->n;
    size_t n_blocks = n_old / PFD_GRID_BLOCK + 1;
    uint8_t *blocks = malloc(n_blocks);
    struct pfd_grid_cell *cells = NULL;
    grid->cell_sums.is_whole |= is_whole(grid);
    bool ok =
        blocks && (!pfd_grid_is_sum(grid) ||
                   take_room(grid, pfd_cell_sums_extend(&grid->cell_sums, n)));
    if (ok) {
        memcpy(blocks, pfd_grid_blocks(grid->panels[0], n_old), n_blocks);
        cells = pfd_zeroed_grow(grid->panels[0], pfd_grid_bytes(n_old),
                                pfd_grid_bytes(n));
    }
    if (cells) {
        grid->panels[0] = cells;
        if (grid->cell_sums.is_whole)
            pfd_zeroed_whole(cells, pfd_grid_bytes(n));
        memset(pfd_grid_blocks(cells, n_old), 0, n_blocks);
        memcpy(pfd_grid_blocks(cells, n), blocks, n_blocks);
    }
    free(blocks);
    grid->failed |= !cells;
    return cells != NULL;
}

static bool grow(struct pfd_grid *grid, struct pfd_double_double x,
                 struct pfd_double_double y)
{
    struct pfd_axis_growth of_x;
    struct pfd_axis_growth of_y;
    pfd_grid_refresh(grid);
    grow_both(grid, x, y, &of_x, &of_y);
    struct pfd_axis new_x = apply(&grid->x, &of_x);
    struct pfd_axis new_y = apply(&grid->y, &of_y);
    if (is_taller(grid, &new_x, &new_y) ? !extend(grid, &new_y)
                                        : !move_all(grid, &new_x, &new_y))
        return false;
    grid->x = new_x;
    grid->y = new_y;
    return true;
}

/* Allocates the cell of a part's place. The cells of both are nested, and the
 * part's are no wider. Limited axes have all their places already. */
static bool make_room(struct pfd_grid *grid, pfd_place x, pfd_place y)
{
    bool is_there =
        x >= grid->x.from && x - grid->x.from < (pfd_place)grid->x.n &&
        y >= grid->y.from && y - grid->y.from < (pfd_place)grid->y.n;
    return is_there ||
           grow(grid, pfd_axis_start(&grid->x, x), pfd_axis_start(&grid->y, y));
}

size_t pfd_grid_find(const struct pfd_grid *grid,
                     const struct pfd_grid_part *part, size_t n)
{
    bool is_there = part->k_x == grid->x.k && part->k_y == grid->y.k &&
                    part->x >= grid->x.from && part->y >= grid->y.from &&
                    part->x - grid->x.from + n <= (pfd_place)grid->x.n &&
                    part->y - grid->y.from < (pfd_place)grid->y.n;
    return is_there ? (size_t)(part->y - grid->y.from) * grid->x.n +
                          (size_t)(part->x - grid->x.from)
                    : SIZE_MAX;
}

void pfd_grid_merge_at(struct pfd_grid *grid, size_t panel, size_t i,
                       const struct pfd_grid_part *part)
{
    struct pfd_grid_cell *cells = grid->panels[panel];
    if (grid->failed || grid->is_too_wide)
        return;
    merge(&cells[i], &part->cell, grid->reducer);
    grid->has_new = true;
    if (pfd_grid_is_sum(grid))
        add_part(grid, panel, i, part->sum);
    pfd_grid_blocks(cells, grid->x.n * grid->y.n)[i / PFD_GRID_BLOCK] = 1;
}

void pfd_grid_merge(struct pfd_grid *grid, size_t panel,
                    const struct pfd_grid_part *part)
{
    pfd_place x = shifted(part->x, grid->x.k - part->k_x);
    pfd_place y = shifted(part->y, grid->y.k - part->k_y);
    if (grid->failed || grid->is_too_wide || !make_room(grid, x, y))
        return;
    /* Growing may have made cells wider. */
    x = shifted(part->x, grid->x.k - part->k_x);
    y = shifted(part->y, grid->y.k - part->k_y);
    struct pfd_grid_cell *cells = grid->panels[panel];
    struct pfd_grid_cell *to =
        pfd_grid_cell_at(cells, &grid->x, &grid->y, x, y);
    pfd_grid_merge_at(grid, panel, (size_t)(to - cells), part);
}

static bool is_outside(const struct pfd_axis *axis, struct pfd_double_double at)
{
    return axis->is_limited && (pfd_double_double_compare(at, axis->low) < 0 ||
                                pfd_double_double_compare(at, axis->high) > 0);
}

static bool is_inside(const struct pfd_grid *grid, struct pfd_double_double x,
                      struct pfd_double_double y)
{
    return isfinite(x.hi) && isfinite(y.hi) && !is_outside(&grid->x, x) &&
           !is_outside(&grid->y, y);
}

/* False: the cell cannot be allocated. */
static bool reach(struct pfd_grid *grid, struct pfd_double_double x,
                  struct pfd_double_double y)
{
    bool is_there = pfd_axis_cell(&grid->x, x) != SIZE_MAX &&
                    pfd_axis_cell(&grid->y, y) != SIZE_MAX;
    return is_there || grow(grid, x, y);
}

/* The cell of a point; SIZE_MAX: it has none, and was counted. */
static size_t make_cell(struct pfd_grid *grid, size_t panel,
                        struct pfd_double_double x, struct pfd_double_double y)
{
    if (!isfinite(x.hi) || !isfinite(y.hi)) {
        grid->n_nowhere++;
        return SIZE_MAX;
    }
    if (is_outside(&grid->x, x) || is_outside(&grid->y, y)) {
        grid->n_outside++;
        return SIZE_MAX;
    }
    if (grid->failed || grid->is_too_wide || !reach(grid, x, y))
        return SIZE_MAX;
    size_t i =
        pfd_axis_cell(&grid->y, y) * grid->x.n + pfd_axis_cell(&grid->x, x);
    struct pfd_grid_cell *cells = grid->panels[panel];
    pfd_grid_blocks(cells, grid->x.n * grid->y.n)[i / PFD_GRID_BLOCK] = 1;
    return i;
}

void pfd_grid_add(struct pfd_grid *grid, size_t panel,
                  struct pfd_double_double x, struct pfd_double_double y,
                  struct pfd_double_double value, uint64_t order)
{
    size_t i = make_cell(grid, panel, x, y);
    if (i == SIZE_MAX)
        return;
    grid->n_points++;
    grid->has_new = true;
    add_to_cell(grid, panel, i, value, order);
}

/* ---- many points at once ---- */

static inline double double_at(const double *values, int i)
{
    return i >= 0 ? values[i] : 0;
}

/* Adds points up to the first without a cell; returns their number. */
static size_t add_quickly(struct pfd_grid *grid, size_t panel,
                          const struct pfd_grid_doubles *points, size_t from,
                          uint64_t order)
{
    const struct pfd_fast_axis x = pfd_fast_axis_of(&grid->x);
    const struct pfd_fast_axis y = pfd_fast_axis_of(&grid->y);
    struct pfd_grid_cell *cells = grid->panels[panel];
    if (!cells)
        return 0;
    uint8_t *blocks = pfd_grid_blocks(cells, grid->x.n * grid->y.n);
    const double *values = points->all + from * points->stride;
    size_t i = from;
    if (!x.is_possible || !y.is_possible)
        return 0;
    for (; i < points->n; i++, values += points->stride) {
        size_t at_x = pfd_fast_axis_cell(&x, double_at(values, points->x));
        size_t at_y = pfd_fast_axis_cell(&y, double_at(values, points->y));
        if (at_x >= x.n || at_y >= y.n)
            break;
        size_t at = at_y * x.n + at_x;
        struct pfd_grid_cell *cell = &cells[at];
        blocks[at / PFD_GRID_BLOCK] = 1;
        struct pfd_double_double value =
            pfd_double_double_round(double_at(values, points->value));
        if (grid->reducer == PFD_REDUCE_LAST) {
            cell->value = value;
            cell->order = order + i;
            cell->n += cell->n < PFD_GRID_SEVERAL;
        } else if (grid->reducer == PFD_REDUCE_COUNT) {
            cell->n++;
        } else {
            add_to_cell(grid, panel, at, value, order + i);
        }
    }
    grid->n_points += i - from;
    grid->has_new |= i > from;
    return i - from;
}

void pfd_grid_reach(struct pfd_grid *grid,
                    const struct pfd_grid_doubles *points, size_t i)
{
    double low[2] = { HUGE_VAL, HUGE_VAL };
    double high[2] = { -HUGE_VAL, -HUGE_VAL };
    for (; i < points->n; i++) {
        const double *values = points->all + i * points->stride;
        const double at[2] = { double_at(values, points->x),
                               double_at(values, points->y) };
        if (!is_inside(grid, pfd_double_double_round(at[0]),
                       pfd_double_double_round(at[1])))
            continue;
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
    if (low[0] > high[0] || grid->failed || grid->is_too_wide)
        return;
    (void)(reach(grid, pfd_double_double_round(low[0]),
                 pfd_double_double_round(low[1])) &&
           reach(grid, pfd_double_double_round(high[0]),
                 pfd_double_double_round(high[1])));
}

void pfd_grid_add_doubles(struct pfd_grid *grid, size_t panel,
                          const struct pfd_grid_doubles *points, uint64_t order)
{
    for (size_t i = 0; i < points->n; i++) {
        i += add_quickly(grid, panel, points, i, order);
        if (i == points->n)
            break;
        pfd_grid_reach(grid, points, i);
        const double *values = points->all + i * points->stride;
        pfd_grid_add(grid, panel,
                     pfd_double_double_round(double_at(values, points->x)),
                     pfd_double_double_round(double_at(values, points->y)),
                     pfd_double_double_round(double_at(values, points->value)),
                     order + i);
    }
}

void pfd_grid_expect(struct pfd_grid *grid, size_t panel,
                     const struct pfd_grid_doubles *points)
{
    const struct pfd_fast_axis x = pfd_fast_axis_of(&grid->x);
    const struct pfd_fast_axis y = pfd_fast_axis_of(&grid->y);
    struct pfd_grid_cell *cells = grid->panels[panel];
    size_t n = grid->x.n * grid->y.n;
    for (size_t i = 0; cells && x.is_possible && y.is_possible && i < points->n;
         i++) {
        const double *values = points->all + i * points->stride;
        size_t at_x = pfd_fast_axis_cell(&x, double_at(values, points->x));
        size_t at_y = pfd_fast_axis_cell(&y, double_at(values, points->y));
        if (at_x < x.n && at_y < y.n)
            pfd_grid_blocks(cells, n)[(at_y * x.n + at_x) / PFD_GRID_BLOCK] = 1;
    }
}

void pfd_grid_settle(struct pfd_grid *grid)
{
    size_t n = grid->x.n * grid->y.n;
    grid->cell_sums.is_whole = is_whole(grid);
    for (size_t p = 0; p < grid->n_panels && grid->cell_sums.is_whole; p++)
        pfd_zeroed_whole(grid->panels[p], pfd_grid_bytes(n));
}

bool pfd_grid_add_panel(struct pfd_grid *grid)
{
    if (grid->failed)
        return false;
    struct pfd_grid_cell **panels = realloc(
        grid->panels, (grid->n_panels + 1) * sizeof(struct pfd_grid_cell *));
    if (!panels) {
        grid->failed = true;
        return false;
    }
    grid->panels = panels;
    panels[grid->n_panels] = NULL;
    size_t n = grid->x.n * grid->y.n;
    if (n && !(panels[grid->n_panels] = make_cells(n, false))) {
        grid->failed = true;
        return false;
    }
    grid->n_panels++;
    grid->has_new = true;
    return !pfd_grid_is_sum(grid) ||
           take_room(grid, pfd_cell_sums_add_panel(&grid->cell_sums, n));
}

static struct pfd_axis coarser_axis(const struct pfd_axis *axis, size_t max)
{
    struct pfd_axis a = *axis;
    while (pfd_axis_used(&a) > max)
        pfd_axis_coarsen(&a, 1);
    a.max = max;
    a.from = a.seen[0];
    a.n = pfd_axis_used(&a);
    return a;
}

bool pfd_grid_coarser(struct pfd_grid *grid, size_t max_x, size_t max_y,
                      struct pfd_grid *ret)
{
    pfd_grid_refresh(grid);
    *ret = *grid;
    ret->panels = NULL;
    ret->n_panels = 0;
    ret->cell_sums = (struct pfd_cell_sums){ 0 };
    ret->has_new = true;
    if (!grid->x.is_used || !grid->y.is_used)
        return true;
    ret->x = coarser_axis(&grid->x, max_x);
    ret->y = coarser_axis(&grid->y, max_y);
    if (!make_sums(grid, ret->x.n * ret->y.n, &ret->cell_sums)) {
        ret->failed = grid->failed;
        ret->is_too_wide = grid->is_too_wide;
        return false;
    }
    ret->panels = calloc(grid->n_panels + 1, sizeof(struct pfd_grid_cell *));
    for (; ret->panels && ret->n_panels < grid->n_panels; ret->n_panels++) {
        struct pfd_grid_cell *cells =
            move_panel(grid, ret->n_panels, &ret->x, &ret->y, &ret->cell_sums);
        if (!cells)
            return false;
        ret->panels[ret->n_panels] = cells;
    }
    return ret->panels != NULL;
}
