/* SPDX-License-Identifier: MIT */
/* A surface for pictures: pixels, or an SVG file. The unit of both is a pixel,
 * from the upper left corner. */
#ifndef PFD_CANVAS_H
#define PFD_CANVAS_H

#include "analysis/plot/raster.h"
#include "core/base/text.h"

enum pfd_anchor {
    PFD_ANCHOR_START,
    PFD_ANCHOR_MIDDLE,
    PFD_ANCHOR_END,
};

struct pfd_canvas {
    struct pfd_raster *raster; /* of pixels; or: */
    struct pfd_text *svg;
};

void pfd_canvas_fill(struct pfd_canvas *canvas, int64_t x, int64_t y,
                     int64_t width, int64_t height, struct pfd_colour colour);

/* Draws a line, both ends included. */
void pfd_canvas_line(struct pfd_canvas *canvas, int64_t x0, int64_t y0,
                     int64_t x1, int64_t y1, struct pfd_colour colour);

/* y: the upper edge. upwards: the text is turned to the left; x is its left
 * edge, and the anchor is along y. */
void pfd_canvas_text(struct pfd_canvas *canvas, int64_t x, int64_t y,
                     const char *text, enum pfd_anchor anchor, bool upwards,
                     struct pfd_colour colour);

/* Pixels of a text along its line. */
size_t pfd_canvas_width(const char *text);

/* Writes the begin and the end of an SVG file. */
void pfd_svg_begin(struct pfd_text *svg, size_t width, size_t height,
                   const char *title);
void pfd_svg_end(struct pfd_text *svg);

#endif
