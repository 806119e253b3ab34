/* SPDX-License-Identifier: MIT */
/*
 * Points reduced into cells: the first of the two steps that make a picture.
 * Cells of several panels share their axes. Knows no colours.
 */
#ifndef PFD_GRID_H
#define PFD_GRID_H

#include <printfdecode/plot.h>

#include "analysis/plot/axis.h"
#include "analysis/plot/cell_sums.h"

enum {
    PFD_GRID_CELLS_MAX = 1 << 24, /* of all panels */
    PFD_GRID_BLOCK = 128, /* cells: most of a sparse grid have nothing */
    PFD_GRID_SEVERAL = 2,
};

struct pfd_grid_cell {
    struct pfd_double_double
        value;      /* count needs none; of nan: how many are; of sums
                              and means, as of pfd_grid_sum(): the sum */
    uint64_t order; /* of the point that it is of: first, last; of sums and
                       means bits: which of its values are no finite numbers */
    uint64_t n;     /* points; 0: nothing is here; of first and last no more
                       than PFD_GRID_SEVERAL are counted */
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

/* What all cells are, and the range of their numbers. */
struct pfd_grid_sums {
    uint64_t n[PFD_GRID_KINDS];
    uint64_t n_several; /* cells with more than one value */
    bool any;           /* there are numbers: */
    struct pfd_double_double low;
    struct pfd_double_double high;
    struct pfd_double_double least_above_0; /* hi 0: none is */
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
        cell_sums;            /* of sums and means: the finite values'; as many
                             panels and cells */
    struct pfd_grid_sums all; /* as of the last look at all cells */
    bool has_new;             /* since then */
    int n_halved;       /* how often an axis' greatest number of cells was */
    uint64_t n_points;  /* that are in it */
    uint64_t n_outside; /* of the limits */
    uint64_t n_nowhere; /* a coordinate is NaN or infinite */
    bool failed;        /* out of memory */
    bool is_too_wide;   /* rather: values differ too much to be added up */
};

void pfd_grid_init(struct pfd_grid *ret, enum pfd_reducer reducer);
void pfd_grid_deinit(struct pfd_grid *grid);

/* One more, without points; false: out of memory, or too many. */
bool pfd_grid_add_panel(struct pfd_grid *grid);

/* The cell of a place; NULL: there is none. */
const struct pfd_grid_cell *pfd_grid_at(const struct pfd_grid *grid,
                                        size_t panel, pfd_place x, pfd_place y);

/* What a cell shows; NULL is empty. */
enum pfd_grid_kind pfd_grid_look(const struct pfd_grid_cell *cell,
                                 enum pfd_reducer reducer,
                                 struct pfd_double_double *ret);

/* Brings `seen` of the axes up to date: points in room that was made in advance
 * do not say where they are. */
void pfd_grid_refresh(struct pfd_grid *grid);

/* What all cells are, and the range of their numbers; brings `seen` of the
 * axes and the values of cells up to date. */
void pfd_grid_sum(struct pfd_grid *grid, struct pfd_grid_sums *ret);

/* The same points in fewer cells, no more than these each way. False: out of
 * memory; to be deinited all the same. */
bool pfd_grid_coarser(struct pfd_grid *grid, size_t max_x, size_t max_y,
                      struct pfd_grid *ret);

/* A cell that was reduced elsewhere, in a place of axes whose cells were once
 * this grid's. */
struct pfd_grid_part {
    pfd_place x;
    pfd_place y;
    int k_x; /* of the places: their cells are 2 to the power of it wide */
    int k_y;
    struct pfd_grid_cell cell;
    struct pfd_units sum; /* of sums and means, in the place of its value */
};
void pfd_grid_merge(struct pfd_grid *grid, size_t panel,
                    const struct pfd_grid_part *part);

/* The cell of a part, where it has one as wide as its own, and those of the n - 1
 * parts right of it are the next ones; SIZE_MAX: not so. */
size_t pfd_grid_find(const struct pfd_grid *grid,
                     const struct pfd_grid_part *part, size_t n);
/* To cell i, which was found; part's place is not looked at. */
void pfd_grid_merge_at(struct pfd_grid *grid, size_t panel, size_t i,
                       const struct pfd_grid_part *part);

/* Adds a point; order: greater than that of all before. */
void pfd_grid_add(struct pfd_grid *grid, size_t panel,
                  struct pfd_double_double x, struct pfd_double_double y,
                  struct pfd_double_double value, uint64_t order);

/* The same of many points [n], `stride` doubles each, of which number x, y and
 * value are taken; below 0: it is 0. */
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
/* Room for those from number i on, in two steps and not in one for each that is
 * farther out than all before. */
void pfd_grid_reach(struct pfd_grid *grid,
                    const struct pfd_grid_doubles *points, size_t i);
/* These come next, to an empty grid that has room for them; */
void pfd_grid_expect(struct pfd_grid *grid, size_t panel,
                     const struct pfd_grid_doubles *points);
/* and all that come next are known. */
void pfd_grid_settle(struct pfd_grid *grid);

#endif
