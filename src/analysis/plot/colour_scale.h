/* SPDX-License-Identifier: MIT */
/* Maps numbers of cells to shares of the way from the first colour to the
 * last. */
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

/* Makes the scale of a grid's numbers; low and high: NULL, or limits that the
 * user set. False: out of memory. */
bool pfd_colour_scale_init(struct pfd_colour_scale *ret,
                           enum pfd_plot_scale kind,
                           const struct pfd_grid *grid,
                           const struct pfd_grid_sums *sums,
                           const struct pfd_double_double *low,
                           const struct pfd_double_double *high);
void pfd_colour_scale_deinit(struct pfd_colour_scale *colour_scale);

/* The share of a number, 0 to 1; a number beyond an end gets the end. */
double pfd_colour_scale_share(const struct pfd_colour_scale *colour_scale,
                              struct pfd_double_double number);

/* The number at a share: for the legend. */
struct pfd_double_double pfd_colour_scale_number(
    const struct pfd_colour_scale *s, double share);

#endif
