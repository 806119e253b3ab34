/* SPDX-License-Identifier: MIT */
/* Braille: eight dots a character, without colours. */
#include "analysis/plot/text_picture.h"

static void put(struct pfd_text *out, const struct pfd_raster *raster, size_t x,
                size_t y, struct pfd_colour paper)
{
    /* Dots 1, 2, 3, 7 are the left column from above; 4, 5, 6, 8 the right. */
    static const uint8_t dots[2][4] = { { 0x01, 0x02, 0x04, 0x40 },
                                        { 0x08, 0x10, 0x20, 0x80 } };
    unsigned set = 0;
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 4; j++) {
            const struct pfd_colour *c =
                &raster->pixels[(y + j) * raster->width + x + i];
            if (c->r != paper.r || c->g != paper.g || c->b != paper.b)
                set |= dots[i][j];
        }
    }
    /* U+2800 and on, in UTF-8. */
    const char utf8[3] = { (char)0xe2, (char)(0xa0 | set >> 6),
                           (char)(0x80 | (set & 0x3f)) };
    pfd_text_add(out, utf8, sizeof utf8);
}

static void draw(struct pfd_plot *plot, const struct pfd_plot_screen *screen,
                 struct pfd_text *out)
{
    static const struct pfd_dots dots = { 2, 4, put, false };
    pfd_plot_draw_text(plot, screen, &dots, out);
}

const struct pfd_plot_form pfd_plot_form_braille = {
    .info = { .name = "braille", .title = "dots of Braille", .is_text = true },
    .draw = draw,
};
