/* SPDX-License-Identifier: MIT */
/*
 * The cells of a worker's share, by number: what its points were reduced to.
 *
 * Cells are as small as their values allow, and are prefetched, since most
 * pictures are larger than caches.
 */
#ifndef PFD_CELLS_H
#define PFD_CELLS_H

#include "analysis/plot/grid.h"
#include "core/output/points.h"

/* The place of a value in a payload; `of` -1: the value is 0. */
struct pfd_cell_value {
    int of;
    enum pfd_point_load load;
    uint32_t at;
};

static inline double pfd_cell_value_load(const struct pfd_cell_value *s,
                                         enum pfd_point_load load,
                                         const uint8_t *payload, uint64_t order)
{
    return s->of < 0 ? 0 : pfd_point_double(load, payload + s->at, order);
}

enum {
    PFD_CELLS_AHEAD = 96,           /* distance of prefetching, in points */
    PFD_CELLS_ORDERS_MAX = 1 << 30, /* from the first point to the last: sums of
                                       integers stay below 2^63 */
};

/* All zeros: no cells. */
struct pfd_cells {
    enum pfd_reducer reducer;
    bool is_narrow; /* values are words of 32 bits, all of this load: */
    enum pfd_point_load load;
    size_t n;
    size_t size;     /* bytes of a cell in: */
    void *all;       /* [n]; owned */
    uint64_t *flat;  /* [n], for sums of words: the part that was not moved to
                        `all` yet; owned */
    size_t n_spilt;  /* of the last points, the number that needed `all` */
    uint8_t *blocks; /* by PFD_GRID_BLOCK cells: bits that say in which array
                        they may have points; owned */
    bool has_sums;   /* of integers */
    bool has_unit;   /* sums are of other numbers: */
    int unit;        /* in multiples of 2^unit */
};

/* Bytes of one cell. */
size_t pfd_cells_size(enum pfd_reducer reducer,
                      const struct pfd_cell_value *value);

/* Makes [n] empty cells for values like this; false: out of memory. */
bool pfd_cells_init(struct pfd_cells *ret, enum pfd_reducer reducer,
                    const struct pfd_cell_value *value, size_t n);
void pfd_cells_deinit(struct pfd_cells *cells);

/* Can the cells take these values? */
bool pfd_cells_fit(const struct pfd_cells *cells,
                   const struct pfd_cell_value *value);

/* Points [n] with their payloads. `order` is the first point's; the others
 * follow. */
struct pfd_cell_points {
    const struct pfd_cell_value *value;
    const uint8_t *const *payloads;
    const uint32_t
        *at; /* their cells, [n + PFD_CELLS_AHEAD]: the last have any valid
                number */
    size_t n;
    uint64_t order;
    uint32_t behind; /* the same, relative to the share's first point */
};

/* Prefetches the cells of the first [PFD_CELLS_AHEAD] points. */
void pfd_cells_prefetch(const struct pfd_cells *cells, const uint32_t *at);

/* Returns how many points were added: the next one does not fit. */
size_t pfd_cells_add(struct pfd_cells *cells,
                     const struct pfd_cell_points *points);

/* Reads a cell, without its place; order: of the share's first point. False:
 * the cell is empty. */
bool pfd_cells_get(const struct pfd_cells *cells, size_t i, uint64_t order,
                   struct pfd_grid_part *ret);

#endif
