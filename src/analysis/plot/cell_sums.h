/* SPDX-License-Identifier: MIT */
/*
 * Exact sums of the numbers in a grid's cells: a panel of sums
 * for each panel of the grid. Most cells are empty, and take no memory.
 */
#ifndef PFD_CELL_SUMS_H
#define PFD_CELL_SUMS_H

#include <stddef.h>

#include "analysis/plot/double_double.h"

/*
 * Sums without rounding: integers of several words in units of a power of two.
 * The result depends neither on the order of additions nor on how they were
 * divided among partial sums. All sums of a grid have the same width; it grows
 * when a number does not fit. No double needs more than 35 words, few pictures
 * more than 3.
 */

/* The position and width of sums. All zeros: nothing was added yet. */
struct pfd_exact_sum {
    int low;        /* the first word counts 2^low; a multiple of 64 */
    unsigned words; /* in two's complement, the least significant first */
};

/* A summand: units * 2^exponent. */
struct pfd_units {
    __int128 units;
    int exponent;
};

/* The summand of a finite number. */
struct pfd_units pfd_units_of(double number);

enum {
    PFD_CELL_SUMS_PANELS_MAX = 16,
    PFD_CELL_SUMS_WORDS_MAX = 1 << 27, /* of all panels: 1 GiB */
};

/* All zeros: no panels. */
struct pfd_cell_sums {
    struct pfd_exact_sum exact_sum;
    size_t n_panels;
    bool is_whole;                              /* most cells will have sums */
    size_t n;                                   /* cells of each panel */
    uint64_t *panels[PFD_CELL_SUMS_PANELS_MAX]; /* [n * exact_sum.words]; owned;
                                              NULL: all are 0 */
};

enum pfd_cell_sums_room {
    PFD_CELL_SUMS_OK,
    PFD_CELL_SUMS_NO_MEMORY,
    PFD_CELL_SUMS_TOO_WIDE, /* the range of numbers is too wide for so many
                               cells */
};

void pfd_cell_sums_deinit(struct pfd_cell_sums *cell_sums);

/* Makes an equal number of panels of n cells, with sums of the same width.
 * is_whole: most cells will have sums. */
enum pfd_cell_sums_room pfd_cell_sums_like(
    const struct pfd_cell_sums *cell_sums, size_t n_panels, size_t n,
    bool is_whole, struct pfd_cell_sums *ret);

/* Adds cells behind those of the only panel. */
enum pfd_cell_sums_room pfd_cell_sums_extend(struct pfd_cell_sums *cell_sums,
                                             size_t n);

/* Adds a panel of n cells. */
enum pfd_cell_sums_room pfd_cell_sums_add_panel(struct pfd_cell_sums *cell_sums,
                                                size_t n);

/* Adds to a cell. */
enum pfd_cell_sums_room pfd_cell_sums_add(struct pfd_cell_sums *cell_sums,
                                          size_t panel, size_t i,
                                          struct pfd_units part);
/* Adds the sum of cell k of the same panel in another set, whose sums have the
 * same width. */
void pfd_cell_sums_join(struct pfd_cell_sums *cell_sums, size_t panel, size_t i,
                        const struct pfd_cell_sums *other, size_t k);

struct pfd_double_double pfd_cell_sums_round(
    const struct pfd_cell_sums *cell_sums, size_t panel, size_t i);

#endif
