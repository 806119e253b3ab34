/* SPDX-License-Identifier: MIT */
/* Half blocks: two cells a character, in 24 bits of colour. */
#include "analysis/plot/text_picture.h"

static struct pfd_colour at(const struct pfd_raster *raster, size_t x, size_t y)
{
    return raster->pixels[y * raster->width + x];
}

static void put(struct pfd_text *out, const struct pfd_raster *raster, size_t x,
                size_t y, struct pfd_colour paper)
{
    struct pfd_colour up = at(raster, x, y);
    struct pfd_colour low = at(raster, x, y + 1);
    (void)paper;
    pfd_text_printf(out, "\033[38;2;%u;%u;%u;48;2;%u;%u;%um▀", up.r, up.g, up.b,
                    low.r, low.g, low.b);
}

static void draw(struct pfd_plot *plot, const struct pfd_plot_screen *screen,
                 struct pfd_text *out)
{
    static const struct pfd_dots dots = { 1, 2, put, true };
    pfd_plot_draw_text(plot, screen, &dots, out);
}

const struct pfd_plot_form pfd_plot_form_blocks = {
    .info = { .name = "blocks", .title = "half blocks", .is_text = true },
    .draw = draw,
};
