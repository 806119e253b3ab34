/* SPDX-License-Identifier: MIT */
/*
 * Reduces points into cells: the first of the two steps to a picture. The cells
 * of several panels share their axes. Knows no colours.
 */
#ifndef PFD_GRID_H
#define PFD_GRID_H

#include "analysis/plot/axis.h"
#include "analysis/plot/cell_sums.h"
#include "analysis/plot/plot_spec.h"

enum {
    PFD_GRID_CELLS_MAX = 1 << 24, /* of all panels */
    PFD_GRID_BLOCK = 128, /* cells: most blocks of a sparse grid are empty */
    PFD_GRID_SEVERAL = 2,
};

struct pfd_grid_cell {
    struct pfd_double_double
        value;      /* unused for count; of nan: their number; of sums and
                       means: the sum, set by pfd_grid_sum() */
    uint64_t order; /* of first and last: of the point that won; of sums and
                       means: bits of non-finite values */
    uint64_t n;     /* points; 0: the cell is empty; for first and last at most
                       PFD_GRID_SEVERAL are counted */
};

enum {
    PFD_GRID_HAS_NAN = 1,
    PFD_GRID_HAS_PLUS_INF = 2,
    PFD_GRID_HAS_MINUS_INF = 4,
};

enum pfd_grid_kind {
    PFD_GRID_EMPTY,
    PFD_GRID_NAN,
    PFD_GRID_PLUS_INF,
    PFD_GRID_MINUS_INF,
    PFD_GRID_NUMBER,
    PFD_GRID_KINDS,
};

/* Counts of all cells by kind, and the range of their numbers. */
struct pfd_grid_sums {
    uint64_t n[PFD_GRID_KINDS];
    uint64_t n_several; /* cells with more than one value */
    bool any;           /* there are numbers: */
    struct pfd_double_double low;
    struct pfd_double_double high;
    struct pfd_double_double least_above_0; /* hi 0: none */
    uint64_t n_not_above_0;
};

struct pfd_grid {
    enum pfd_reducer reducer;
    struct pfd_axis x;
    struct pfd_axis y;
    struct pfd_grid_cell *
        *panels; /* [n_panels] of x.n * y.n, row by row; owned */
    size_t n_panels;
    struct pfd_cell_sums
        cell_sums;            /* for sums and means: of finite values; with the
                                 same panels and cells */
    struct pfd_grid_sums all; /* as of the last pfd_grid_sum() */
    bool has_new;             /* points came since then */
    int n_halved;       /* how often the limit of cells per axis was halved */
    uint64_t n_points;  /* in cells */
    uint64_t n_outside; /* beyond the limits */
    uint64_t n_nowhere; /* with a coordinate that is NaN or infinite */
    bool failed;        /* out of memory */
    bool is_too_wide;   /* the other failure: values differ too much to be
                           summed */
};

void pfd_grid_init(struct pfd_grid *ret, enum pfd_reducer reducer);
void pfd_grid_deinit(struct pfd_grid *grid);

/* Adds an empty panel; false: out of memory, or too many. */
bool pfd_grid_add_panel(struct pfd_grid *grid);

/* The cell of a place; NULL: not allocated. */
const struct pfd_grid_cell *pfd_grid_at(const struct pfd_grid *grid,
                                        size_t panel, pfd_place x, pfd_place y);

/* The kind and the number (*ret) of a cell; NULL is an empty one. */
enum pfd_grid_kind pfd_grid_read_cell(const struct pfd_grid_cell *cell,
                                      enum pfd_reducer reducer,
                                      struct pfd_double_double *ret);

/* Updates `seen` of the axes: a point in a cell that was allocated in advance
 * does not. */
void pfd_grid_refresh(struct pfd_grid *grid);

/* Counts all cells, and finds the range of their numbers; updates `seen` of the
 * axes and the values of cells. */
void pfd_grid_sum(struct pfd_grid *grid, struct pfd_grid_sums *ret);

/* Reduces the same points to fewer cells, at most these in each direction.
 * False: out of memory; *ret still has to be deinited. */
bool pfd_grid_coarser(struct pfd_grid *grid, size_t max_x, size_t max_y,
                      struct pfd_grid *ret);

/* A cell that was reduced elsewhere, for axes that once were this grid's. */
struct pfd_grid_part {
    pfd_place x;
    pfd_place y;
    int k_x; /* of the places: their cells are 2^k wide */
    int k_y;
    struct pfd_grid_cell cell;
    struct pfd_units sum; /* of sums and means, instead of its value */
};
void pfd_grid_merge(struct pfd_grid *grid, size_t panel,
                    const struct pfd_grid_part *part);

/* The cell of a part, if the grid has one of equal width and the next n - 1
 * cells are those of the next n - 1 parts; SIZE_MAX: otherwise. */
size_t pfd_grid_find(const struct pfd_grid *grid,
                     const struct pfd_grid_part *part, size_t n);
/* Merges into cell i, from pfd_grid_find(); part's place is ignored. */
void pfd_grid_merge_at(struct pfd_grid *grid, size_t panel, size_t i,
                       const struct pfd_grid_part *part);

/* Adds a point; order: greater than that of all earlier ones. */
void pfd_grid_add(struct pfd_grid *grid, size_t panel,
                  struct pfd_double_double x, struct pfd_double_double y,
                  struct pfd_double_double value, uint64_t order);

/* Many points [n], of `stride` doubles each; x, y and value are numbers of
 * these doubles, or below 0: the coordinate is 0. */
struct pfd_grid_doubles {
    const double *all;
    size_t n;
    size_t stride;
    int x;
    int y;
    int value;
};
void pfd_grid_add_doubles(struct pfd_grid *grid, size_t panel,
                          const struct pfd_grid_doubles *points,
                          uint64_t order);
/* Grows the axes to the points from number i on, in two steps rather than once
 * for each extreme. */
void pfd_grid_reach(struct pfd_grid *grid,
                    const struct pfd_grid_doubles *points, size_t i);
/* Allocates for points that come next, to an empty grid with all their
 * cells; */
void pfd_grid_expect(struct pfd_grid *grid, size_t panel,
                     const struct pfd_grid_doubles *points);
/* call it after the last pfd_grid_expect(). */
void pfd_grid_settle(struct pfd_grid *grid);

/* ---- the layout of cells in panels, for grid.c and grid_read.c ---- */

static inline bool pfd_grid_is_sum(const struct pfd_grid *grid)
{
    return grid->reducer == PFD_REDUCE_SUM || grid->reducer == PFD_REDUCE_MEAN;
}

static inline size_t pfd_grid_bytes(size_t n)
{
    return n * sizeof(struct pfd_grid_cell) + n / PFD_GRID_BLOCK + 1;
}

/* For each block of [n] cells: 1 if it may have points. */
static inline uint8_t *pfd_grid_blocks(struct pfd_grid_cell *cells, size_t n)
{
    return (uint8_t *)(cells + n);
}

/* The next cell of [n] from i on that has points, or `end`. Empty blocks are
 * skipped unread: they take no memory yet. */
static inline size_t pfd_grid_next_before(struct pfd_grid_cell *cells, size_t n,
                                          size_t i, size_t end)
{
    const uint8_t *blocks = pfd_grid_blocks(cells, n);
    while (i < end) {
        size_t stop = (i / PFD_GRID_BLOCK + 1) * PFD_GRID_BLOCK;
        stop = stop < end ? stop : end;
        if (!blocks[i / PFD_GRID_BLOCK])
            i = stop;
        for (; i < stop; i++) {
            if (cells[i].n)
                return i;
        }
    }
    return end;
}

static inline size_t pfd_grid_next(struct pfd_grid_cell *cells, size_t n,
                                   size_t i)
{
    return pfd_grid_next_before(cells, n, i, n);
}

static inline struct pfd_grid_cell *pfd_grid_cell_at(
    struct pfd_grid_cell *panel, const struct pfd_axis *x,
    const struct pfd_axis *y, pfd_place at_x, pfd_place at_y)
{
    return &panel[(size_t)(at_y - y->from) * x->n + (size_t)(at_x - x->from)];
}

#endif
