/* SPDX-License-Identifier: MIT */
#include "analysis/plot/raster.h"

#include <stdlib.h>

#include "analysis/plot/font.h"

bool pfd_raster_init(struct pfd_raster *ret, size_t width, size_t height,
                     struct pfd_colour paper)
{
    *ret = (struct pfd_raster){ .width = width, .height = height };
    if (!width || !height || width > PFD_RASTER_MAX / height)
        return false;
    ret->pixels = malloc(width * height * sizeof *ret->pixels);
    for (size_t i = 0; ret->pixels && i < width * height; i++)
        ret->pixels[i] = paper;
    return ret->pixels != NULL;
}

void pfd_raster_deinit(struct pfd_raster *raster)
{
    free(raster->pixels);
    *raster = (struct pfd_raster){ 0 };
}

void pfd_raster_fill(struct pfd_raster *raster, int64_t x, int64_t y,
                     int64_t width, int64_t height, struct pfd_colour colour)
{
    for (int64_t j = 0; j < height; j++) {
        for (int64_t i = 0; i < width; i++)
            pfd_raster_set(raster, x + i, y + j, colour);
    }
}

void pfd_raster_line(struct pfd_raster *raster, int64_t x0, int64_t y0,
                     int64_t x1, int64_t y1, struct pfd_colour colour)
{
    int64_t wide = llabs(x1 - x0);
    int64_t high = llabs(y1 - y0);
    int64_t n = wide > high ? wide : high;
    for (int64_t i = 0; i <= n; i++) {
        int64_t half = n / 2;
        int64_t x = n ? (wide * i + half) / n : 0;
        int64_t y = n ? (high * i + half) / n : 0;
        pfd_raster_set(raster, x1 < x0 ? x0 - x : x0 + x,
                       y1 < y0 ? y0 - y : y0 + y, colour);
    }
}

/* Draws a letter; turned: to the left, x is its left edge and y its lower
 * one. */
static void draw_glyph(struct pfd_raster *raster, int64_t x, int64_t y, char c,
                       bool turned, struct pfd_colour colour)
{
    const uint8_t *columns = pfd_font_glyph(c);
    for (int64_t i = 0; i < PFD_GLYPH_WIDTH - 1; i++) {
        for (int64_t j = 0; j < 8; j++) {
            if (columns[i] >> j & 1) {
                pfd_raster_set(raster, turned ? x + j : x + i,
                               turned ? y - i : y + j, colour);
            }
        }
    }
}

void pfd_raster_text(struct pfd_raster *raster, int64_t x, int64_t y,
                     const char *text, bool upwards, struct pfd_colour colour)
{
    for (; *text; text++) {
        if (((uint8_t)*text & 0xc0) == 0x80)
            continue; /* the bytes of a character beyond ASCII are one box */
        draw_glyph(raster, x, y, *text, upwards, colour);
        x += upwards ? 0 : PFD_GLYPH_WIDTH;
        y -= upwards ? PFD_GLYPH_WIDTH : 0;
    }
}
