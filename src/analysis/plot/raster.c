/* SPDX-License-Identifier: MIT */
#include "analysis/plot/raster.h"

#include <stdint.h>
#include <stdlib.h>

/* Letters of five by eight pixels, for pictures of pixels. */

/* From space to tilde, then the glyph of any other byte. */
static const uint8_t glyphs[][5] = {
    { 0x00, 0x00, 0x00, 0x00, 0x00 },                                   /*   */
    { 0x00, 0x00, 0x5f, 0x00, 0x00 },                                   /* ! */
    { 0x00, 0x07, 0x00, 0x07, 0x00 },                                   /* " */
    { 0x14, 0x7f, 0x14, 0x7f, 0x14 },                                   /* # */
    { 0x24, 0x2a, 0x7f, 0x2a, 0x12 },                                   /* $ */
    { 0x23, 0x13, 0x08, 0x64, 0x62 },                                   /* % */
    { 0x36, 0x49, 0x55, 0x22, 0x50 },                                   /* & */
    { 0x00, 0x00, 0x07, 0x00, 0x00 },                                   /* ' */
    { 0x00, 0x1c, 0x22, 0x41, 0x00 },                                   /* ( */
    { 0x00, 0x41, 0x22, 0x1c, 0x00 },                                   /* ) */
    { 0x14, 0x08, 0x3e, 0x08, 0x14 }, { 0x08, 0x08, 0x3e, 0x08, 0x08 }, /* + */
    { 0x00, 0x80, 0x60, 0x00, 0x00 },                                   /* , */
    { 0x08, 0x08, 0x08, 0x08, 0x08 },                                   /* - */
    { 0x00, 0x60, 0x60, 0x00, 0x00 },                                   /* . */
    { 0x20, 0x10, 0x08, 0x04, 0x02 }, { 0x3e, 0x51, 0x49, 0x45, 0x3e }, /* 0 */
    { 0x00, 0x42, 0x7f, 0x40, 0x00 },                                   /* 1 */
    { 0x62, 0x51, 0x49, 0x49, 0x46 },                                   /* 2 */
    { 0x22, 0x41, 0x49, 0x49, 0x36 },                                   /* 3 */
    { 0x18, 0x14, 0x12, 0x7f, 0x10 },                                   /* 4 */
    { 0x27, 0x45, 0x45, 0x45, 0x39 },                                   /* 5 */
    { 0x3c, 0x4a, 0x49, 0x49, 0x30 },                                   /* 6 */
    { 0x01, 0x71, 0x09, 0x05, 0x03 },                                   /* 7 */
    { 0x36, 0x49, 0x49, 0x49, 0x36 },                                   /* 8 */
    { 0x06, 0x49, 0x49, 0x29, 0x1e },                                   /* 9 */
    { 0x00, 0x36, 0x36, 0x00, 0x00 },                                   /* : */
    { 0x00, 0x80, 0x76, 0x36, 0x00 },                                   /* ; */
    { 0x08, 0x14, 0x22, 0x41, 0x00 },                                   /* < */
    { 0x14, 0x14, 0x14, 0x14, 0x14 },                                   /* = */
    { 0x00, 0x41, 0x22, 0x14, 0x08 },                                   /* > */
    { 0x02, 0x01, 0x51, 0x09, 0x06 },                                   /* ? */
    { 0x3e, 0x41, 0x5d, 0x55, 0x1e },                                   /* @ */
    { 0x7e, 0x11, 0x11, 0x11, 0x7e },                                   /* A */
    { 0x7f, 0x49, 0x49, 0x49, 0x36 },                                   /* B */
    { 0x3e, 0x41, 0x41, 0x41, 0x22 },                                   /* C */
    { 0x7f, 0x41, 0x41, 0x41, 0x3e },                                   /* D */
    { 0x7f, 0x49, 0x49, 0x49, 0x41 },                                   /* E */
    { 0x7f, 0x09, 0x09, 0x09, 0x01 },                                   /* F */
    { 0x3e, 0x41, 0x49, 0x49, 0x7a },                                   /* G */
    { 0x7f, 0x08, 0x08, 0x08, 0x7f },                                   /* H */
    { 0x00, 0x41, 0x7f, 0x41, 0x00 },                                   /* I */
    { 0x20, 0x40, 0x41, 0x3f, 0x01 },                                   /* J */
    { 0x7f, 0x08, 0x14, 0x22, 0x41 },                                   /* K */
    { 0x7f, 0x40, 0x40, 0x40, 0x40 },                                   /* L */
    { 0x7f, 0x02, 0x0c, 0x02, 0x7f },                                   /* M */
    { 0x7f, 0x04, 0x08, 0x10, 0x7f },                                   /* N */
    { 0x3e, 0x41, 0x41, 0x41, 0x3e },                                   /* O */
    { 0x7f, 0x09, 0x09, 0x09, 0x06 },                                   /* P */
    { 0x3e, 0x41, 0x51, 0x21, 0x5e },                                   /* Q */
    { 0x7f, 0x09, 0x19, 0x29, 0x46 },                                   /* R */
    { 0x26, 0x49, 0x49, 0x49, 0x32 },                                   /* S */
    { 0x01, 0x01, 0x7f, 0x01, 0x01 },                                   /* T */
    { 0x3f, 0x40, 0x40, 0x40, 0x3f },                                   /* U */
    { 0x1f, 0x20, 0x40, 0x20, 0x1f },                                   /* V */
    { 0x7f, 0x20, 0x18, 0x20, 0x7f },                                   /* W */
    { 0x63, 0x14, 0x08, 0x14, 0x63 },                                   /* X */
    { 0x03, 0x04, 0x78, 0x04, 0x03 },                                   /* Y */
    { 0x61, 0x51, 0x49, 0x45, 0x43 },                                   /* Z */
    { 0x00, 0x7f, 0x41, 0x41, 0x00 },                                   /* [ */
    { 0x02, 0x04, 0x08, 0x10, 0x20 }, { 0x00, 0x41, 0x41, 0x7f, 0x00 }, /* ] */
    { 0x04, 0x02, 0x01, 0x02, 0x04 },                                   /* ^ */
    { 0x80, 0x80, 0x80, 0x80, 0x80 },                                   /* _ */
    { 0x00, 0x01, 0x02, 0x04, 0x00 },                                   /* ` */
    { 0x20, 0x54, 0x54, 0x54, 0x78 },                                   /* a */
    { 0x7f, 0x48, 0x44, 0x44, 0x38 },                                   /* b */
    { 0x38, 0x44, 0x44, 0x44, 0x28 },                                   /* c */
    { 0x38, 0x44, 0x44, 0x48, 0x7f },                                   /* d */
    { 0x38, 0x54, 0x54, 0x54, 0x18 },                                   /* e */
    { 0x08, 0x7e, 0x09, 0x09, 0x02 },                                   /* f */
    { 0x18, 0xa4, 0xa4, 0xa4, 0x7c },                                   /* g */
    { 0x7f, 0x08, 0x04, 0x04, 0x78 },                                   /* h */
    { 0x00, 0x44, 0x7d, 0x40, 0x00 },                                   /* i */
    { 0x40, 0x80, 0x84, 0x7d, 0x00 },                                   /* j */
    { 0x7f, 0x10, 0x28, 0x44, 0x00 },                                   /* k */
    { 0x00, 0x41, 0x7f, 0x40, 0x00 },                                   /* l */
    { 0x7c, 0x04, 0x78, 0x04, 0x78 },                                   /* m */
    { 0x7c, 0x08, 0x04, 0x04, 0x78 },                                   /* n */
    { 0x38, 0x44, 0x44, 0x44, 0x38 },                                   /* o */
    { 0xfc, 0x24, 0x24, 0x24, 0x18 },                                   /* p */
    { 0x18, 0x24, 0x24, 0x24, 0xfc },                                   /* q */
    { 0x7c, 0x08, 0x04, 0x04, 0x08 },                                   /* r */
    { 0x48, 0x54, 0x54, 0x54, 0x24 },                                   /* s */
    { 0x04, 0x3f, 0x44, 0x44, 0x20 },                                   /* t */
    { 0x3c, 0x40, 0x40, 0x20, 0x7c },                                   /* u */
    { 0x1c, 0x20, 0x40, 0x20, 0x1c },                                   /* v */
    { 0x3c, 0x40, 0x30, 0x40, 0x3c },                                   /* w */
    { 0x44, 0x28, 0x10, 0x28, 0x44 },                                   /* x */
    { 0x1c, 0xa0, 0xa0, 0xa0, 0x7c },                                   /* y */
    { 0x44, 0x64, 0x54, 0x4c, 0x44 },                                   /* z */
    { 0x00, 0x08, 0x36, 0x41, 0x00 },                                   /* { */
    { 0x00, 0x00, 0x7f, 0x00, 0x00 },                                   /* | */
    { 0x00, 0x41, 0x36, 0x08, 0x00 },                                   /* } */
    { 0x08, 0x04, 0x08, 0x10, 0x08 },                                   /* ~ */
    { 0x7f, 0x41, 0x41, 0x41, 0x7f },
};

/* Five columns from left to right, the lowest bit is the top. */
static const uint8_t *font_glyph(char c)
{
    return c >= ' ' && c <= '~' ? glyphs[c - ' '] : glyphs['~' - ' ' + 1];
}

enum pfd_status pfd_raster_init(struct pfd_raster *ret, size_t width,
                                size_t height, struct pfd_colour paper)
{
    *ret = (struct pfd_raster){ .width = width, .height = height };
    if (!width || !height || width > PFD_RASTER_MAX / height)
        return PFD_ERR_UNSUPPORTED;
    ret->pixels = malloc(width * height * sizeof *ret->pixels);
    for (size_t i = 0; ret->pixels && i < width * height; i++)
        ret->pixels[i] = paper;
    return ret->pixels ? PFD_OK : PFD_ERR_NOMEM;
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
    const uint8_t *columns = font_glyph(c);
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
