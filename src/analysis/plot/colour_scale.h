/* SPDX-License-Identifier: MIT */
/* Numbers of cells as shares of the way from the first colour to the last. */
#ifndef PFD_COLOUR_SCALE_H
#define PFD_COLOUR_SCALE_H

#include "analysis/plot/grid.h"

struct pfd_colour_scale {
    enum pfd_plot_scale kind;
    bool is_empty; /* there are no numbers */
    struct pfd_double_double low;
    struct pfd_double_double high;
    double *ranks; /* [n_ranks], rising: PFD_SCALE_EQUAL; owned */
    size_t n_ranks;
};

/* Of the numbers in a grid; low and high: NULL, or what is said of them. False
 * when out of memory. */
bool pfd_colour_scale_init(struct pfd_colour_scale *ret,
                           enum pfd_plot_scale kind,
                           const struct pfd_grid *grid,
                           const struct pfd_grid_sums *sums,
                           const struct pfd_double_double *low,
                           const struct pfd_double_double *high);
void pfd_colour_scale_deinit(struct pfd_colour_scale *colour_scale);

/* 0 to 1; what is beyond an end is at it. */
double pfd_colour_scale_share(const struct pfd_colour_scale *colour_scale,
                              struct pfd_double_double number);

/* The number at a share: for the legend. */
struct pfd_double_double pfd_colour_scale_number(
    const struct pfd_colour_scale *colour_scale, double share);

#endif
