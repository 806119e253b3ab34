/* SPDX-License-Identifier: MIT */
/* plot --live: a plot of entries that are still to come. */
#ifndef CLI_PLOT_LIVE_H
#define CLI_PLOT_LIVE_H

#include "plot_draw.h"

/* Returns the exit status. */
int plot_live(struct plot *p);

#endif
