/* SPDX-License-Identifier: MIT */
/* Pictures among the text of a terminal: as many cells as fit, with text around
 * them. */
#ifndef PFD_PLOT_TEXT_PICTURE_H
#define PFD_PLOT_TEXT_PICTURE_H

#include "analysis/plot/plot_form.h"

/* A form whose characters are small rasters of dots. */
struct pfd_dots {
    size_t across;
    size_t down;
    /* Appends the character whose dots begin at x and y. */
    void (*put)(struct pfd_text *out, const struct pfd_raster *raster, size_t x,
                size_t y, struct pfd_colour paper);
    bool has_colours;
};

void pfd_plot_draw_text(struct pfd_plot *plot,
                        const struct pfd_plot_screen *screen,
                        const struct pfd_dots *dots, struct pfd_text *out);

/* The largest picture that fits a terminal with pixels. False: see
 * plot->error. */
bool pfd_plot_screen_pixels(struct pfd_plot *plot,
                            const struct pfd_plot_screen *screen,
                            struct pfd_raster *ret);

#endif
