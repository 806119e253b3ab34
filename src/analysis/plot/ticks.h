/* SPDX-License-Identifier: MIT */
/* Round numbers along an axis, with their places. */
#ifndef PFD_TICKS_H
#define PFD_TICKS_H

#include "analysis/plot/axis.h"

enum {
    PFD_TICKS_MAX = 16,
    PFD_TICK_TEXT = 48,
};

struct pfd_ticks {
    struct pfd_tick {
        double share; /* of the way from the axis' start to its end */
        char text[PFD_TICK_TEXT];
    } all[PFD_TICKS_MAX]; /* [n] */
    size_t n;
};

/* Ticks of the used cells; a cell of width 1 has its number in its middle. */
void pfd_ticks_of_axis(struct pfd_ticks *ret, const struct pfd_axis *axis,
                       size_t most);

/* Ticks from low to high. */
void pfd_ticks_of_range(struct pfd_ticks *ret, struct pfd_double_double low,
                        struct pfd_double_double high, size_t most, bool log);

#endif
