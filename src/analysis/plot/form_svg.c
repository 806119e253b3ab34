/* SPDX-License-Identifier: MIT */
#include "analysis/plot/plot_form.h"

enum {
    CELLS_MAX = 1 << 18 /* more are too slow in readers of SVG */
};

static void draw_file(const struct pfd_picture *picture, struct pfd_text *out)
{
    const struct pfd_plot *plot = picture->plot;
    struct pfd_canvas canvas = { .svg = out };
    size_t width = picture->width;
    size_t height = picture->height;
    if (!plot->spec.bare)
        pfd_picture_extent(picture, &width, &height);
    pfd_svg_begin(out, width, height, plot->title);
    pfd_canvas_fill(&canvas, 0, 0, (int64_t)width, (int64_t)height,
                    plot->colours.empty);
    if (plot->spec.bare) {
        pfd_picture_inside(picture, 0, &canvas, 0, 0);
    } else {
        pfd_picture_draw(picture, &canvas);
    }
    pfd_svg_end(out);
}

static void draw(struct pfd_plot *plot, const struct pfd_plot_screen *screen,
                 struct pfd_text *out)
{
    struct pfd_picture picture;
    const struct pfd_picture_size size = {
        .pixel = plot->spec.pixel ? plot->spec.pixel : plot->spec.bare,
    };
    (void)screen;
    if (pfd_picture_init(&picture, plot, plot->grids, &size)) {
        uint64_t cells = picture.n_x * picture.n_y * plot->n_panels;
        if (cells > CELLS_MAX && plot->spec.kind == PFD_PLOT_HEAT) {
            pfd_plot_fail(plot, PFD_ERR_UNSUPPORTED,
                          "too many cells for SVG: fewer --cells, or PNG");
        } else {
            draw_file(&picture, out);
        }
    }
    pfd_picture_deinit(&picture);
}

const struct pfd_plot_form pfd_plot_form_svg = {
    .info = { .name = "svg", .title = "SVG", .suffix = ".svg" },
    .draw = draw,
};
