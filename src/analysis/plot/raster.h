/* SPDX-License-Identifier: MIT */
/* A picture of pixels in memory. Drawing beyond its edges has no effect. */
#ifndef PFD_RASTER_H
#define PFD_RASTER_H

#include <printfdecode/common.h>

#include "analysis/plot/colours.h"

struct pfd_raster {
    struct pfd_colour *pixels; /* [width * height], row by row; owned */
    size_t width;
    size_t height;
};

enum {
    PFD_RASTER_MAX = 1 << 26 /* pixels */
};

/* PFD_OK; PFD_ERR_UNSUPPORTED: no pixels, or more than PFD_RASTER_MAX;
 * PFD_ERR_NOMEM. */
enum pfd_status pfd_raster_init(struct pfd_raster *ret, size_t width,
                                size_t height, struct pfd_colour paper);
void pfd_raster_deinit(struct pfd_raster *raster);

static inline void pfd_raster_set(struct pfd_raster *raster, int64_t x,
                                  int64_t y, struct pfd_colour colour)
{
    if (x >= 0 && y >= 0 && (uint64_t)x < raster->width &&
        (uint64_t)y < raster->height)
        raster->pixels[(size_t)y * raster->width + (size_t)x] = colour;
}

void pfd_raster_fill(struct pfd_raster *raster, int64_t x, int64_t y,
                     int64_t width, int64_t height, struct pfd_colour colour);

/* From pixel to pixel, both included. */
void pfd_raster_line(struct pfd_raster *raster, int64_t x0, int64_t y0,
                     int64_t x1, int64_t y1, struct pfd_colour colour);

/* Draws a line of text with its upper left corner at x and y; upwards: turned,
 * with its lower left corner there. Characters beyond ASCII are boxes. */
enum {
    PFD_GLYPH_WIDTH = 6, /* with the gap behind it */
    PFD_GLYPH_HEIGHT = 9,
};
void pfd_raster_text(struct pfd_raster *raster, int64_t x, int64_t y,
                     const char *text, bool upwards, struct pfd_colour colour);

#endif
