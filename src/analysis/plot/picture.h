/* SPDX-License-Identifier: MIT */
/* The contents of a plot's picture: its panels side by side, and the parts
 * around them. Knows cells, scales and colours; no form. */
#ifndef PFD_PICTURE_H
#define PFD_PICTURE_H

#include "analysis/plot/canvas.h"
#include "analysis/plot/colour_scale.h"
#include "analysis/plot/plot_state.h"

struct pfd_picture {
    const struct pfd_plot *plot;
    struct pfd_grid *grids; /* [plot->n_grids]; the plot's, or coarser ones */
    struct pfd_grid_sums sums;
    struct pfd_colour_scale colour_scale;
    bool is_shaded; /* cells have colours, and there is a legend */
    struct pfd_double_double low; /* of the y of lines and bars */
    struct pfd_double_double high;
    size_t n_x; /* cells */
    size_t n_y;
    size_t pixel_x; /* of a cell */
    size_t pixel_y;
    size_t width; /* pixels of a panel's inside */
    size_t height;
    size_t across; /* panels in a row */
    size_t down;
};

/* The wanted size of a panel's inside. */
struct pfd_picture_size {
    size_t
        width; /* limit of pixels, where cells may be larger; 0: the default */
    size_t height;
    uint64_t pixel; /* of a cell; 0: as fits */
};

/* False: nothing can be drawn; see plot->error. */
bool pfd_picture_init(struct pfd_picture *ret, struct pfd_plot *plot,
                      struct pfd_grid *grids,
                      const struct pfd_picture_size *size);
void pfd_picture_deinit(struct pfd_picture *picture);

/* The rectangle of a panel's inside. */
void pfd_picture_inside(const struct pfd_picture *picture, size_t panel,
                        struct pfd_canvas *canvas, int64_t x, int64_t y);

/* The size of the whole picture, with axes and legend. */
void pfd_picture_extent(const struct pfd_picture *picture, size_t *width,
                        size_t *height);
void pfd_picture_draw(const struct pfd_picture *picture,
                      struct pfd_canvas *canvas);

/* Note n of the legend on cells without a number: "NaN 3". NULL: there is no n.
 * colour: NULL where it has none. */
struct pfd_picture_note {
    char text[48];
    const struct pfd_colour *colour;
};
bool pfd_picture_note(const struct pfd_picture *picture, size_t n,
                      struct pfd_picture_note *ret);

/* Ticks of the y axis, in any unit. */
struct pfd_ticks;
void pfd_picture_ticks_y(const struct pfd_picture *picture,
                         struct pfd_ticks *ret, size_t most);
/* Does y grow downwards, as in images? */
bool pfd_picture_is_down(const struct pfd_picture *picture);

/* Draws the picture as pixels, for forms of pixels. False: see plot->error. */
bool pfd_plot_pixels(struct pfd_plot *plot, const struct pfd_picture *picture,
                     struct pfd_raster *ret);

#endif
