/* SPDX-License-Identifier: MIT */
/*
 * What the numbers of a grid's cells add up to, exactly (exact_sum.h): a panel of
 * sums for each of the grid's. Most cells have nothing, and take no memory.
 */
#ifndef PFD_CELL_SUMS_H
#define PFD_CELL_SUMS_H

#include "analysis/plot/exact_sum.h"

enum {
    PFD_CELL_SUMS_PANELS_MAX = 16,
    PFD_CELL_SUMS_WORDS_MAX = 1 << 27, /* of all panels: 1 GiB */
};

/* All zeros: no panels. */
struct pfd_cell_sums {
    struct pfd_exact_sum exact_sum;
    size_t n_panels;
    bool is_whole; /* most cells will have sums */
    size_t n;      /* cells of each */
    uint64_t
        *panels[PFD_CELL_SUMS_PANELS_MAX]; /* [n * exact.words]; owned; NULL:
                                              all are 0 */
};

enum pfd_cell_sums_room {
    PFD_CELL_SUMS_OK,
    PFD_CELL_SUMS_NO_MEMORY,
    PFD_CELL_SUMS_TOO_WIDE, /* numbers differ too much for so many cells */
};

void pfd_cell_sums_deinit(struct pfd_cell_sums *cell_sums);

/* As many panels of n cells, in the same room, most of which will have sums. */
enum pfd_cell_sums_room pfd_cell_sums_like(
    const struct pfd_cell_sums *cell_sums, size_t n_panels, size_t n,
    bool is_whole, struct pfd_cell_sums *ret);

/* More cells behind those of the only panel. */
enum pfd_cell_sums_room pfd_cell_sums_extend(struct pfd_cell_sums *cell_sums,
                                             size_t n);

/* One more. */
enum pfd_cell_sums_room pfd_cell_sums_add_panel(struct pfd_cell_sums *cell_sums,
                                                size_t n);

/* Adds to a cell. */
enum pfd_cell_sums_room pfd_cell_sums_add(struct pfd_cell_sums *cell_sums,
                                          size_t panel, size_t i,
                                          struct pfd_units part);
/* The sum of a cell of another one, of the same room. */
void pfd_cell_sums_join(struct pfd_cell_sums *cell_sums, size_t panel, size_t i,
                        const struct pfd_cell_sums *other, size_t k);

struct pfd_double_double pfd_cell_sums_round(
    const struct pfd_cell_sums *cell_sums, size_t panel, size_t i);

#endif
