/* SPDX-License-Identifier: MIT */
/* Internals of a grid: the layout of cells in its panels. */
#ifndef PFD_GRID_CELLS_H
#define PFD_GRID_CELLS_H

#include "analysis/plot/grid.h"

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
