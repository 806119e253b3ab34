/* SPDX-License-Identifier: MIT */
#include "analysis/plot/canvas.h"

#include <string.h>

/* ---- SVG ---- */

static void put_escaped(struct pfd_text *svg, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            pfd_text_puts(svg, "&amp;");
            break;
        case '<':
            pfd_text_puts(svg, "&lt;");
            break;
        case '>':
            pfd_text_puts(svg, "&gt;");
            break;
        case '"':
            pfd_text_puts(svg, "&quot;");
            break;
        default:
            pfd_text_add(svg, text, 1);
        }
    }
}

static void put_colour(struct pfd_text *svg, const char *name,
                       struct pfd_colour c)
{
    pfd_text_printf(svg, " %s=\"#%02x%02x%02x\"", name, c.r, c.g, c.b);
}

void pfd_svg_begin(struct pfd_text *svg, size_t width, size_t height,
                   const char *title)
{
    pfd_text_printf(svg,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" "
                    "height=\"%zu\" viewBox=\"0 0 %zu %zu\" "
                    "font-family=\"monospace\" font-size=\"10\" "
                    "shape-rendering=\"crispEdges\">\n<title>",
                    width, height, width, height);
    put_escaped(svg, title);
    pfd_text_puts(svg, "</title>\n");
}

void pfd_svg_end(struct pfd_text *svg)
{
    pfd_text_puts(svg, "</svg>\n");
}

static void svg_text(struct pfd_text *svg, int64_t x, int64_t y,
                     const char *text, enum pfd_anchor anchor, bool upwards,
                     struct pfd_colour colour)
{
    static const char *const anchors[] = { "start", "middle", "end" };
    int64_t base_x = upwards ? x + 7 : x;
    int64_t base_y = upwards ? y : y + 7;
    pfd_text_printf(svg,
                    "<text x=\"%lld\" y=\"%lld\" text-anchor=\"%s\" "
                    "textLength=\"%zu\"",
                    (long long)base_x, (long long)base_y, anchors[anchor],
                    pfd_canvas_width(text));
    if (upwards) {
        pfd_text_printf(svg, " transform=\"rotate(-90 %lld %lld)\"",
                        (long long)base_x, (long long)base_y);
    }
    put_colour(svg, "fill", colour);
    pfd_text_puts(svg, ">");
    put_escaped(svg, text);
    pfd_text_puts(svg, "</text>\n");
}

/* ---- both kinds ---- */

void pfd_canvas_fill(struct pfd_canvas *canvas, int64_t x, int64_t y,
                     int64_t width, int64_t height, struct pfd_colour colour)
{
    if (canvas->raster) {
        pfd_raster_fill(canvas->raster, x, y, width, height, colour);
        return;
    }
    pfd_text_printf(canvas->svg,
                    "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" "
                    "height=\"%lld\"",
                    (long long)x, (long long)y, (long long)width,
                    (long long)height);
    put_colour(canvas->svg, "fill", colour);
    pfd_text_puts(canvas->svg, "/>\n");
}

void pfd_canvas_line(struct pfd_canvas *canvas, int64_t x0, int64_t y0,
                     int64_t x1, int64_t y1, struct pfd_colour colour)
{
    if (canvas->raster) {
        pfd_raster_line(canvas->raster, x0, y0, x1, y1, colour);
        return;
    }
    pfd_text_printf(canvas->svg,
                    "<path d=\"M%lld.5 %lld.5L%lld.5 %lld.5\" "
                    "stroke-linecap=\"square\"",
                    (long long)x0, (long long)y0, (long long)x1, (long long)y1);
    put_colour(canvas->svg, "stroke", colour);
    pfd_text_puts(canvas->svg, "/>\n");
}

size_t pfd_canvas_width(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((uint8_t)*text & 0xc0) != 0x80;
    return n * PFD_GLYPH_WIDTH;
}

void pfd_canvas_text(struct pfd_canvas *canvas, int64_t x, int64_t y,
                     const char *text, enum pfd_anchor anchor, bool upwards,
                     struct pfd_colour colour)
{
    int64_t wide = (int64_t)pfd_canvas_width(text);
    int64_t back = anchor == PFD_ANCHOR_END      ? wide
                   : anchor == PFD_ANCHOR_MIDDLE ? wide / 2
                                                 : 0;
    if (!*text)
        return;
    if (!canvas->raster) {
        svg_text(canvas->svg, x, y, text, anchor, upwards, colour);
    } else if (upwards) {
        pfd_raster_text(canvas->raster, x, y + back, text, true, colour);
    } else {
        pfd_raster_text(canvas->raster, x - back, y, text, false, colour);
    }
}
