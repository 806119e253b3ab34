/* SPDX-License-Identifier: MIT */
/*
 * The graphics protocol of kitty: a PNG file in chunks of base64. (Kitty's
 * documentation, "Terminal graphics protocol": action T shows the transmitted
 * image, format 100 is PNG, q=2 suppresses responses, m=1: more chunks
 * follow.)
 */
#include "analysis/plot/text_picture.h"

enum {
    PIECE = 3072 /* bytes, which are 4096 characters */
};

static void put_base64(struct pfd_text *out, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)bytes[i] << 16;
        v |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
        v |= i + 2 < n ? bytes[i + 2] : 0;
        const char four[4] = {
            digits[v >> 18],
            digits[v >> 12 & 63],
            i + 1 < n ? digits[v >> 6 & 63] : '=',
            i + 2 < n ? digits[v & 63] : '=',
        };
        pfd_text_add(out, four, sizeof four);
    }
}

static void draw(struct pfd_plot *plot, const struct pfd_plot_screen *screen,
                 struct pfd_text *out)
{
    struct pfd_raster raster;
    struct pfd_text file = { 0 };
    struct pfd_error err;
    if (pfd_plot_screen_pixels(plot, screen, &raster) &&
        pfd_png_write(&file, &raster, &err) != PFD_OK)
        pfd_plot_fail(plot, err.code, err.text);
    for (size_t i = 0; i < file.n && plot->error.code == PFD_OK; i += PIECE) {
        size_t n = file.n - i < PIECE ? file.n - i : PIECE;
        pfd_text_printf(out, "\033_G%sm=%d;", i ? "" : "a=T,f=100,q=2,",
                        i + n < file.n);
        put_base64(out, (const uint8_t *)file.data + i, n);
        pfd_text_puts(out, "\033\\");
    }
    pfd_text_puts(out, "\n");
    pfd_text_free(&file);
    pfd_raster_deinit(&raster);
}

const struct pfd_plot_form pfd_plot_form_kitty = {
    .info = { .name = "kitty",
              .title = "kitty's graphics protocol",
              .is_text = true },
    .draw = draw,
};
