/* SPDX-License-Identifier: MIT */
/* Numbers of cells as shares of the way from the first colour to the last. */
#ifndef PFD_COLOUR_SCALE_H
#define PFD_COLOUR_SCALE_H

#include "analysis/plot/grid.h"

struct pfd_scale {
    enum pfd_plot_scale kind;
    bool is_empty; /* there are no numbers */
    struct pfd_wide low;
    struct pfd_wide high;
    double *ranks; /* [n_ranks], rising: PFD_SCALE_EQUAL; owned */
    size_t n_ranks;
};

/* Of the numbers in a grid; low and high: NULL, or what is said of them. False
 * when out of memory. */
bool pfd_scale_init(struct pfd_scale *ret, enum pfd_plot_scale kind,
                    const struct pfd_grid *grid,
                    const struct pfd_grid_sums *sums,
                    const struct pfd_wide *low, const struct pfd_wide *high);
void pfd_scale_deinit(struct pfd_scale *scale);

/* 0 to 1; what is beyond an end is at it. */
double pfd_scale_share(const struct pfd_scale *scale, struct pfd_wide number);

/* The number at a share: for the legend. */
struct pfd_wide pfd_scale_number(const struct pfd_scale *scale, double share);

#endif
