/* SPDX-License-Identifier: MIT */
/*
 * The cells of a share: what its points were reduced to so far, by number. They
 * are as small as what they hold allows, and are brought from memory before
 * they are needed, as most pictures are larger than caches.
 */
#ifndef PFD_CELLS_H
#define PFD_CELLS_H

#include "analysis/plot/grid.h"
#include "core/output/points.h"

/* Where a value is in a payload; `of` -1: it is 0. */
struct pfd_source {
    int of;
    enum pfd_point_load load;
    uint32_t at;
};

static inline double pfd_source_load(const struct pfd_source *s,
                                     enum pfd_point_load load,
                                     const uint8_t *payload, uint64_t order)
{
    return s->of < 0 ? 0 : pfd_point_double(load, payload + s->at, order);
}

enum {
    PFD_CELLS_AHEAD = 96,           /* points whose cells are on their way */
    PFD_CELLS_ORDERS_MAX = 1 << 30, /* from the first point to the last: sums
                                       of integers are below 2^63 */
};

/* All zeros: there are none. */
struct pfd_cells {
    enum pfd_reducer reducer;
    bool is_narrow; /* values are words of 32 bits, of one kind: */
    enum pfd_point_load load;
    size_t n;
    size_t size;     /* of each of: */
    void *all;       /* [n]; owned */
    uint64_t *flat;  /* [n], of sums of words: what was added last, until it
                        comes to `all`; owned */
    size_t n_spilt;  /* of the last points, those that needed `all` */
    uint8_t *blocks; /* whether PFD_GRID_BLOCK of them may have points, bits
                        that say where; owned */
    bool has_sums;   /* of integers */
    bool has_unit;   /* sums are of others: */
    int unit;        /* counted in 2^unit */
};

/* How many bytes each needs. */
size_t pfd_cells_size(enum pfd_reducer reducer, const struct pfd_source *value);

/* [n] without points, for values like this; false: out of memory. */
bool pfd_cells_init(struct pfd_cells *ret, enum pfd_reducer reducer,
                    const struct pfd_source *value, size_t n);
void pfd_cells_deinit(struct pfd_cells *cells);

/* Can they take these? */
bool pfd_cells_fit(const struct pfd_cells *cells,
                   const struct pfd_source *value);

/* Points [n] whose payloads these are, the first of this order, the others
 * behind it. */
struct pfd_cell_points {
    const struct pfd_source *value;
    const uint8_t *const *payloads;
    const uint32_t
        *at; /* their cells, [n + PFD_CELLS_AHEAD]: the last are any */
    size_t n;
    uint64_t order;
    uint32_t behind; /* the same, counted from the share's first point */
};

/* Has the first of them [PFD_CELLS_AHEAD] brought from memory. */
void pfd_cells_prefetch(const struct pfd_cells *cells, const uint32_t *at);

/* How many were taken: the next does not fit. */
size_t pfd_cells_add(struct pfd_cells *cells,
                     const struct pfd_cell_points *points);

/* What is in one, but for where it is; order: of the share's first point.
 * False: nothing. */
bool pfd_cells_get(const struct pfd_cells *cells, size_t i, uint64_t order,
                   struct pfd_grid_part *ret);

#endif
