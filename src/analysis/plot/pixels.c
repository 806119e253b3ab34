/* SPDX-License-Identifier: MIT */
#include "analysis/plot/plot_form.h"

bool pfd_plot_pixels(struct pfd_plot *plot, const struct pfd_picture *picture,
                     struct pfd_raster *ret)
{
    size_t width = picture->width;
    size_t height = picture->height;
    struct pfd_canvas canvas = { .raster = ret };
    if (!plot->spec.bare)
        pfd_picture_extent(picture, &width, &height);
    if (!pfd_raster_init(ret, width, height, plot->colours.empty)) {
        return pfd_plot_fail(plot, PFD_ERR_UNSUPPORTED,
                             "the picture would have too many pixels: fewer "
                             "--cells, or a smaller --pixel");
    }
    if (plot->spec.bare) {
        pfd_picture_inside(picture, 0, &canvas, 0, 0);
    } else {
        pfd_picture_draw(picture, &canvas);
    }
    return true;
}
