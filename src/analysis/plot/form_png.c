/* SPDX-License-Identifier: MIT */
#include "analysis/plot/plot_form.h"
#include "analysis/plot/png.h"

static void draw(struct pfd_plot *plot, const struct pfd_plot_screen *screen,
                 struct pfd_text *out)
{
    struct pfd_picture picture;
    struct pfd_raster raster = { 0 };
    const struct pfd_picture_size size = {
        .pixel = plot->spec.pixel ? plot->spec.pixel : plot->spec.bare,
    };
    struct pfd_error err;
    (void)screen;
    if (pfd_picture_init(&picture, plot, plot->grids, &size) &&
        pfd_plot_pixels(plot, &picture, &raster) &&
        pfd_png_write(out, &raster, &err) != PFD_OK)
        pfd_plot_fail(plot, err.code, err.text);
    pfd_raster_deinit(&raster);
    pfd_picture_deinit(&picture);
}

const struct pfd_plot_form pfd_plot_form_png = {
    .info = { .name = "png", .title = "PNG", .suffix = ".png" },
    .draw = draw,
};
