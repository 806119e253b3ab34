/* SPDX-License-Identifier: MIT */
/*
 * A worker's share of a picture: cells of its own for points of one kind.
 * Workers fill them in parallel and merge them into the plot at once. The
 * result does not depend on the order of merging: first and last are decided by
 * the points' order, and sums are exact. Points without a cell go to the plot
 * as runs, in their order.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/plot/axis.h"
#include "analysis/plot/cell_reduce.h"
#include "analysis/plot/plot_state.h"

enum {
    BYTES_MAX = 1 << 28,     /* of cells of one share */
    BYTES_ALL_MAX = 1 << 29, /* of all shares */
};

struct worker_share {
    struct pfd_plot *plot;
    struct pfd_cells cells[PFD_PLOT_GRIDS];
    size_t n_cells; /* 0: it has no cells now */
    size_t n_bytes; /* of all its cells */
    struct pfd_fast_axis x;
    struct pfd_fast_axis y;
    int k_x;
    int k_y;
    uint64_t order;     /* of its first point; UINT64_MAX: none came */
    uint64_t end;       /* behind that of its last one */
    uint64_t n_points;  /* in its cells */
    uint64_t n_refused; /* points that had no cell */
    uint64_t patience;  /* refused points before new cells are made */
    bool is_full;       /* orders are too far apart: the cells have to be merged
                           first */
    const struct pfd_point_plan *plan;
    struct pfd_cell_value source[PFD_ROLE_BY];
};

static void begin(void *of)
{
    struct pfd_plot *plot = of;
    plot->before = plot->order;
}

static void *new_share(void *of)
{
    struct worker_share *worker_share = calloc(1, sizeof *worker_share);
    if (worker_share) {
        worker_share->plot = of;
        worker_share->order = UINT64_MAX;
        worker_share->patience = PFD_PAYLOADS_MAX;
    }
    return worker_share;
}

/* ---- cells ---- */

/* Merges cells [n] of a row. If the plot has the same cells, one look-up is
 * enough. */
static void give_row(struct worker_share *worker_share, size_t grid,
                     size_t from, size_t n)
{
    struct pfd_plot *plot = worker_share->plot;
    uint64_t order = plot->before + worker_share->order;
    struct pfd_grid_part part = {
        .x = worker_share->x.from + (pfd_place)(from % worker_share->x.n),
        .y = worker_share->y.from + (pfd_place)(from / worker_share->x.n),
        .k_x = worker_share->k_x,
        .k_y = worker_share->k_y,
    };
    size_t at = pfd_grid_find(&plot->grids[grid], &part, n);
    for (size_t i = 0; i < n; i++, part.x++) {
        if (!pfd_cells_get(&worker_share->cells[grid], from + i, order, &part))
            continue;
        if (at != SIZE_MAX) {
            pfd_grid_merge_at(&plot->grids[grid], 0, at + i, &part);
        } else {
            pfd_grid_merge(&plot->grids[grid], 0, &part);
        }
    }
}

static void give_cells(struct worker_share *worker_share, size_t grid,
                       size_t from, size_t to)
{
    while (from < to) {
        size_t n = worker_share->x.n - from % worker_share->x.n;
        n = n < to - from ? n : to - from;
        give_row(worker_share, grid, from, n);
        from += n;
    }
}

static void give_grid(struct worker_share *worker_share, size_t grid)
{
    const struct pfd_cells *cells = &worker_share->cells[grid];
    for (size_t at = 0; at < cells->n; at += PFD_GRID_BLOCK) {
        size_t left = cells->n - at;
        if (cells->blocks[at / PFD_GRID_BLOCK]) {
            give_cells(worker_share, grid, at,
                       at + (left < PFD_GRID_BLOCK ? left : PFD_GRID_BLOCK));
        }
    }
    worker_share->plot->grids[grid].n_points += worker_share->n_points;
}

static void drop(struct worker_share *worker_share)
{
    for (size_t g = 0; g < PFD_PLOT_GRIDS; g++)
        pfd_cells_deinit(&worker_share->cells[g]);
    worker_share->plot->n_shared -= worker_share->n_bytes;
    worker_share->n_bytes = 0;
    worker_share->n_cells = 0;
    worker_share->n_points = 0;
    worker_share->order = UINT64_MAX;
    worker_share->is_full = false;
}

/* Merges all cells into the plot, and drops them. A share without cells does
 * not touch the plot, since another share may be changing it. */
static void merge_all(struct worker_share *worker_share)
{
    if (!worker_share->n_cells)
        return;
    for (size_t g = 0; g < worker_share->plot->n_grids; g++)
        give_grid(worker_share, g);
    uint64_t end = worker_share->plot->before + worker_share->end;
    worker_share->plot->order =
        end > worker_share->plot->order ? end : worker_share->plot->order;
    drop(worker_share);
}

/* Sets the bytes of n cells for each of the plot's grids; false: too many. */
static bool measure(struct worker_share *worker_share, size_t n)
{
    const struct pfd_plot *plot = worker_share->plot;
    size_t size = 0;
    for (size_t g = 0; g < plot->n_grids; g++) {
        size += pfd_cells_size(plot->grids[g].reducer,
                               &worker_share->source[PFD_ROLE_VALUE]);
    }
    if (!n || !size || n > BYTES_MAX / size ||
        plot->n_shared + n * size > BYTES_ALL_MAX)
        return false;
    worker_share->n_bytes = n * size;
    return true;
}

/* Makes cells for the plot's used range. Out of memory, or above the limit: the
 * share has none. */
static void make(struct worker_share *worker_share)
{
    struct pfd_plot *plot = worker_share->plot;
    struct pfd_grid *grid = &plot->grids[0];
    pfd_grid_refresh(grid);
    size_t n = pfd_axis_used(&grid->x) * pfd_axis_used(&grid->y);
    struct pfd_axis x = grid->x;
    struct pfd_axis y = grid->y;
    x.from = x.seen[0];
    x.n = pfd_axis_used(&x);
    y.from = y.seen[0];
    y.n = pfd_axis_used(&y);
    worker_share->x = pfd_fast_axis_of(&x);
    worker_share->y = pfd_fast_axis_of(&y);
    if (!worker_share->x.is_possible || !worker_share->y.is_possible ||
        !measure(worker_share, n))
        return;
    worker_share->k_x = x.k;
    worker_share->k_y = y.k;
    worker_share->n_cells = n;
    plot->n_shared += worker_share->n_bytes;
    bool ok = true;
    for (size_t g = 0; g < plot->n_grids && ok; g++) {
        ok = pfd_cells_init(&worker_share->cells[g], plot->grids[g].reducer,
                            &worker_share->source[PFD_ROLE_VALUE], n);
    }
    if (!ok)
        drop(worker_share);
}

static void end(void *share)
{
    struct worker_share *worker_share = share;
    if (!worker_share)
        return;
    merge_all(worker_share);
    free(worker_share);
}

static void turn(void *share)
{
    struct worker_share *worker_share = share;
    struct pfd_plot *plot = worker_share->plot;
    bool is_wrong = worker_share->n_refused >= worker_share->patience;
    if (!plot->is_begun || (!worker_share->is_full && !is_wrong))
        return;
    worker_share->patience *= is_wrong ? 2 : 1;
    worker_share->n_refused = 0;
    merge_all(worker_share);
    make(worker_share);
}

/* ---- points ---- */

static struct pfd_cell_value source_of(const struct worker_share *worker_share,
                                       const struct pfd_point_plan *plan,
                                       int role)
{
    int of = worker_share->plot->role[role];
    return of < 0 ? (struct pfd_cell_value){ -1, PFD_LOAD_U32, 0 }
                  : (struct pfd_cell_value){
                        of, (enum pfd_point_load)plan->load[of], plan->at[of]
                    };
}

static bool is_possible(const struct worker_share *worker_share,
                        const struct pfd_point_plan *plan)
{
    const struct pfd_plot *plot = worker_share->plot;
    if (plot->role[PFD_ROLE_BY] >= 0)
        return false;
    for (size_t i = 0; i < plot->points.n; i++) {
        if (plan->type[i] != PFD_POINT_DOUBLE)
            return false;
    }
    return true;
}

static bool opens(void *share, const struct pfd_point_plan *plan)
{
    struct worker_share *worker_share = share;
    bool is_line = worker_share->plot->spec.kind == PFD_PLOT_LINE;
    if (worker_share->plan != plan) {
        if (!is_possible(worker_share, plan))
            return false;
        worker_share->plan = plan;
        worker_share->source[PFD_ROLE_X] =
            source_of(worker_share, plan, PFD_ROLE_X);
        worker_share->source[PFD_ROLE_Y] =
            source_of(worker_share, plan, PFD_ROLE_Y);
        worker_share->source[PFD_ROLE_VALUE] = source_of(
            worker_share, plan, is_line ? PFD_ROLE_Y : PFD_ROLE_VALUE);
        if (is_line)
            worker_share->source[PFD_ROLE_Y].of = -1;
    }
    bool fits = worker_share->n_cells &&
                pfd_cells_fit(&worker_share->cells[0],
                              &worker_share->source[PFD_ROLE_VALUE]);
    worker_share->n_refused += fits ? 0 : PFD_PAYLOADS_MAX;
    return fits;
}

/* Adds the cell numbers of points [n] in this direction, in steps of `stride`
 * cells; returns the number of points up to the first without a cell. The next
 * three are the same for values of one load. */
static size_t place_any(const struct pfd_fast_axis *q,
                        const struct pfd_cell_value *s,
                        const uint8_t *const *payloads, size_t n,
                        uint64_t order, size_t stride, uint32_t *to)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = pfd_fast_axis_cell(
            q, pfd_cell_value_load(s, s->load, payloads[i], order + i));
        if (at >= q->n)
            return i;
        to[i] += (uint32_t)(at * stride);
    }
    return n;
}

static size_t place_floats(const struct pfd_fast_axis *q,
                           const struct pfd_cell_value *s,
                           const uint8_t *const *payloads, size_t n,
                           size_t stride, uint32_t *to)
{
    for (size_t i = 0; i < n; i++) {
        float f;
        memcpy(&f, payloads[i] + s->at, sizeof f);
        size_t at = pfd_fast_axis_cell(q, (double)f);
        if (at >= q->n)
            return i;
        to[i] += (uint32_t)(at * stride);
    }
    return n;
}

static size_t place_signed(const struct pfd_fast_axis *q,
                           const struct pfd_cell_value *s,
                           const uint8_t *const *payloads, size_t n,
                           size_t stride, uint32_t *to)
{
    for (size_t i = 0; i < n; i++) {
        int32_t word;
        memcpy(&word, payloads[i] + s->at, sizeof word);
        size_t at = pfd_fast_axis_shift(q, word);
        if (at >= q->n)
            return i;
        to[i] += (uint32_t)(at * stride);
    }
    return n;
}

static size_t place_unsigned(const struct pfd_fast_axis *q,
                             const struct pfd_cell_value *s,
                             const uint8_t *const *payloads, size_t n,
                             size_t stride, uint32_t *to)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, payloads[i] + s->at, sizeof word);
        size_t at = pfd_fast_axis_shift(q, word);
        if (at >= q->n)
            return i;
        to[i] += (uint32_t)(at * stride);
    }
    return n;
}

static size_t place_all(const struct pfd_fast_axis *q,
                        const struct pfd_cell_value *s,
                        const uint8_t *const *payloads, size_t n,
                        uint64_t order, size_t stride, uint32_t *to)
{
    if (s->of >= 0 && s->load == PFD_LOAD_U32 && q->is_shift)
        return place_unsigned(q, s, payloads, n, stride, to);
    if (s->of >= 0 && s->load == PFD_LOAD_I32 && q->is_shift)
        return place_signed(q, s, payloads, n, stride, to);
    if (s->of >= 0 && s->load == PFD_LOAD_F32)
        return place_floats(q, s, payloads, n, stride, to);
    return place_any(q, s, payloads, n, order, stride, to);
}

/* Both directions at once, for unsigned words, which most pictures have; false:
 * the values are of another kind. */
static bool place_pixels(const struct worker_share *worker_share,
                         const uint8_t *const *payloads, size_t *n,
                         uint32_t *to)
{
    const struct pfd_cell_value *s = worker_share->source;
    const struct pfd_fast_axis x = worker_share->x;
    const struct pfd_fast_axis y = worker_share->y;
    uint32_t of_x = s[PFD_ROLE_X].at;
    uint32_t of_y = s[PFD_ROLE_Y].at;
    if (s[PFD_ROLE_X].of < 0 || s[PFD_ROLE_X].load != PFD_LOAD_U32 ||
        s[PFD_ROLE_Y].of < 0 || s[PFD_ROLE_Y].load != PFD_LOAD_U32 ||
        !x.is_shift || !y.is_shift)
        return false;
    for (size_t i = 0; i < *n; i++) {
        uint32_t word[2];
        memcpy(&word[0], payloads[i] + of_x, sizeof word[0]);
        memcpy(&word[1], payloads[i] + of_y, sizeof word[1]);
        size_t at_x = pfd_fast_axis_shift(&x, word[0]);
        size_t at_y = pfd_fast_axis_shift(&y, word[1]);
        if (at_x < x.n && at_y < y.n) {
            to[i] = (uint32_t)(at_y * x.n + at_x);
        } else {
            *n = i;
        }
    }
    return true;
}

static size_t place(const struct worker_share *worker_share,
                    const uint8_t *const *payloads, size_t n, uint64_t order,
                    uint32_t *to)
{
    if (place_pixels(worker_share, payloads, &n, to))
        return n;
    n = place_all(&worker_share->x, &worker_share->source[PFD_ROLE_X], payloads,
                  n, order, 1, to);
    return place_all(&worker_share->y, &worker_share->source[PFD_ROLE_Y],
                     payloads, n, order, worker_share->x.n, to);
}

/* Returns how many points fit the cells of all grids. Only sums can refuse
 * points, and they have just one grid. */
static size_t reduce(struct worker_share *worker_share,
                     const struct pfd_cell_points *points)
{
    size_t n = points->n;
    for (size_t g = 0; g < worker_share->plot->n_grids; g++)
        n = pfd_cells_add(&worker_share->cells[g], points);
    return n;
}

static size_t take(void *share, const uint8_t *const *payloads, size_t n,
                   uint64_t order)
{
    struct worker_share *worker_share = share;
    uint32_t at[PFD_PAYLOADS_MAX + PFD_CELLS_AHEAD] = { 0 };
    worker_share->order =
        worker_share->order == UINT64_MAX ? order : worker_share->order;
    worker_share->is_full |=
        order + n - worker_share->order > PFD_CELLS_ORDERS_MAX;
    size_t found = worker_share->is_full ? 0 : n;
    found = place(worker_share, payloads, found, order, at);
    const struct pfd_cell_points points = {
        .value = &worker_share->source[PFD_ROLE_VALUE],
        .payloads = payloads,
        .at = at,
        .n = found,
        .order = order,
        .behind = (uint32_t)(order - worker_share->order),
    };
    pfd_cells_prefetch(&worker_share->cells[0], at);
    found = reduce(worker_share, &points);
    worker_share->n_points += found;
    worker_share->n_refused += n - found;
    worker_share->end = order + found;
    return found;
}

const struct pfd_point_reducer pfd_plot_reducer = {
    .begin = begin,
    .share = new_share,
    .opens = opens,
    .take = take,
    .turn = turn,
    .end = end,
};
