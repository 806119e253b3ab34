/* SPDX-License-Identifier: MIT */
/* The whole picture: panels, and around them titles, axes, the legend. */
#include <stdio.h>

#include "analysis/plot/axis.h"
#include "analysis/plot/picture.h"

enum {
    GAP = 6,
    LINE = PFD_GLYPH_HEIGHT + 3, /* of text */
    TICK = 4,
    BAR = 14, /* width of the legend's colours */
    TICKS_X_EVERY = 70,
    TICKS_Y_EVERY = 36,
    LEGEND_LEAST = 100, /* pixels of colours */
};

/* Pixels around the inside of each panel. */
struct margins {
    size_t left;
    size_t right;
    size_t top;
    size_t bottom;
};

static size_t widest(const struct pfd_ticks *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        size_t width = pfd_canvas_width(t->all[i].text);
        n = width > n ? width : n;
    }
    return n;
}

static struct margins margins_of(const struct pfd_picture *p)
{
    struct pfd_ticks y;
    struct pfd_ticks x;
    pfd_picture_ticks_y(p, &y, p->height / TICKS_Y_EVERY);
    pfd_ticks_of_axis(&x, &p->grids[0].x, p->width / TICKS_X_EVERY);
    return (struct margins){
        .left = GAP + LINE + widest(&y) + TICK + 2,
        .right = GAP + widest(&x) / 2,
        .top = p->plot->role[PFD_ROLE_BY] >= 0 ? LINE + GAP : GAP,
        .bottom = TICK + 2 * LINE + GAP,
    };
}

static size_t legend_width(const struct pfd_picture *p)
{
    size_t n = 0;
    struct pfd_ticks t;
    struct pfd_picture_note note;
    if (!p->is_shaded)
        return 0;
    pfd_ticks_of_range(&t, p->colour_scale.low, p->colour_scale.high, 6, false);
    n = BAR + TICK + widest(&t);
    for (size_t i = 0; pfd_picture_note(p, i, &note); i++) {
        size_t width = LINE + pfd_canvas_width(note.text);
        n = width > n ? width : n;
    }
    size_t label = pfd_canvas_width(p->plot->label[PFD_ROLE_VALUE]);
    return (label > n ? label : n) + 2 * GAP;
}

static size_t n_notes(const struct pfd_picture *p)
{
    size_t n = 0;
    struct pfd_picture_note note;
    while (pfd_picture_note(p, n, &note))
        n++;
    return n;
}

void pfd_picture_extent(const struct pfd_picture *p, size_t *width,
                        size_t *height)
{
    struct margins m = margins_of(p);
    size_t legend = legend_width(p);
    size_t title = pfd_canvas_width(p->plot->title) + 2 * GAP;
    *width = p->across * (m.left + p->width + m.right) + legend;
    *height = GAP + LINE + p->down * (m.top + p->height + m.bottom);
    if (*width < title)
        *width = title < 2 * *width ? title : 2 * *width;
    size_t least = GAP + 2 * LINE + LEGEND_LEAST + (n_notes(p) + 2) * LINE;
    if (legend && *height < least)
        *height = least;
}

static void draw_axes(const struct pfd_picture *p, struct pfd_canvas *canvas,
                      int64_t x, int64_t y)
{
    const struct pfd_colours *c = &p->plot->colours;
    int64_t right = x + (int64_t)p->width;
    int64_t floor = y + (int64_t)p->height;
    struct pfd_ticks t;
    pfd_canvas_line(canvas, x - 1, y - 1, x - 1, floor, c->ink);
    pfd_canvas_line(canvas, x - 1, floor, right, floor, c->ink);
    pfd_ticks_of_axis(&t, &p->grids[0].x, p->width / TICKS_X_EVERY);
    for (size_t i = 0; i < t.n; i++) {
        int64_t at = x + (int64_t)(t.all[i].share * (double)p->width);
        pfd_canvas_line(canvas, at, floor, at, floor + TICK - 1, c->ink);
        pfd_canvas_text(canvas, at, floor + TICK + 2, t.all[i].text,
                        PFD_ANCHOR_MIDDLE, false, c->ink);
    }
    pfd_picture_ticks_y(p, &t, p->height / TICKS_Y_EVERY);
    for (size_t i = 0; i < t.n; i++) {
        int64_t way = (int64_t)(t.all[i].share * (double)(p->height - 1) + 0.5);
        int64_t at = pfd_picture_is_down(p) ? y + way : floor - 1 - way;
        pfd_canvas_line(canvas, x - TICK, at, x - 1, at, c->ink);
        pfd_canvas_text(canvas, x - TICK - 2, at - 3, t.all[i].text,
                        PFD_ANCHOR_END, false, c->ink);
    }
}

static void draw_panel(const struct pfd_picture *p, size_t i,
                       struct pfd_canvas *canvas, const struct margins *m)
{
    const struct pfd_colours *c = &p->plot->colours;
    size_t wide = m->left + p->width + m->right;
    size_t high = m->top + p->height + m->bottom;
    int64_t x = (int64_t)(i % p->across * wide + m->left);
    int64_t y = (int64_t)(GAP + LINE + i / p->across * high + m->top);
    int64_t middle = x + (int64_t)p->width / 2;
    char text[2 * PFD_PANEL_NAME + 4];
    pfd_picture_inside(p, i, canvas, x, y);
    draw_axes(p, canvas, x, y);
    pfd_canvas_text(canvas, middle, y + (int64_t)(p->height + TICK + LINE),
                    p->plot->label[PFD_ROLE_X], PFD_ANCHOR_MIDDLE, false,
                    c->ink);
    pfd_canvas_text(canvas, x - (int64_t)m->left + GAP,
                    y + (int64_t)p->height / 2, p->plot->label[PFD_ROLE_Y],
                    PFD_ANCHOR_MIDDLE, true, c->ink);
    if (p->plot->role[PFD_ROLE_BY] >= 0) {
        snprintf(text, sizeof text, "%s %s", p->plot->label[PFD_ROLE_BY],
                 p->plot->panels[i].name);
        pfd_canvas_text(canvas, middle, y - LINE, text, PFD_ANCHOR_MIDDLE,
                        false, c->ink);
    }
}

static void draw_scale(const struct pfd_picture *p, struct pfd_canvas *canvas,
                       int64_t x, int64_t y, int64_t height)
{
    const struct pfd_colours *c = &p->plot->colours;
    struct pfd_ticks t = { 0 };
    char text[PFD_DOUBLE_DOUBLE_TEXT];
    for (int64_t i = 0; i < height; i++) {
        double share = 1 - (double)i / (double)(height - 1);
        pfd_canvas_fill(canvas, x, y + i, BAR, 1, pfd_colours_at(c, share));
    }
    if (p->colour_scale.kind == PFD_SCALE_EQUAL) {
        for (int i = 0; i <= 4; i++) {
            pfd_double_double_print(
                text, pfd_colour_scale_number(&p->colour_scale, i / 4.0));
            pfd_canvas_text(canvas, x + BAR + TICK,
                            y + height - 1 - i * (height - 1) / 4 - 3, text,
                            PFD_ANCHOR_START, false, c->ink);
        }
        return;
    }
    pfd_ticks_of_range(&t, p->colour_scale.low, p->colour_scale.high, 6,
                       p->colour_scale.kind == PFD_SCALE_LOG);
    for (size_t i = 0; i < t.n; i++) {
        int64_t at = y + height - 1 -
                     (int64_t)(t.all[i].share * (double)(height - 1) + 0.5);
        pfd_canvas_line(canvas, x + BAR, at, x + BAR + TICK / 2, at, c->ink);
        pfd_canvas_text(canvas, x + BAR + TICK, at - 3, t.all[i].text,
                        PFD_ANCHOR_START, false, c->ink);
    }
}

static void draw_legend(const struct pfd_picture *p, struct pfd_canvas *canvas,
                        int64_t x, int64_t y, size_t height)
{
    const struct pfd_colours *c = &p->plot->colours;
    struct pfd_picture_note note;
    int64_t rest = (int64_t)((n_notes(p) + 1) * LINE);
    int64_t high = (int64_t)height - y - LINE - rest - GAP;
    pfd_canvas_text(canvas, x, y, p->plot->label[PFD_ROLE_VALUE],
                    PFD_ANCHOR_START, false, c->ink);
    if (high > 256)
        high = 256;
    if (!p->colour_scale.is_empty && high > 1)
        draw_scale(p, canvas, x, y + LINE, high);
    y += LINE + high + GAP;
    for (size_t i = 0; pfd_picture_note(p, i, &note); i++, y += LINE) {
        if (note.colour) {
            pfd_canvas_fill(canvas, x, y - 1, PFD_GLYPH_HEIGHT,
                            PFD_GLYPH_HEIGHT, c->faint);
            pfd_canvas_fill(canvas, x + 1, y, PFD_GLYPH_HEIGHT - 2,
                            PFD_GLYPH_HEIGHT - 2, *note.colour);
        }
        pfd_canvas_text(canvas, x + (note.colour ? LINE : 0), y, note.text,
                        PFD_ANCHOR_START, false, c->ink);
    }
}

void pfd_picture_draw(const struct pfd_picture *p, struct pfd_canvas *canvas)
{
    struct margins m = margins_of(p);
    size_t width;
    size_t height;
    pfd_picture_extent(p, &width, &height);
    pfd_canvas_text(canvas, GAP, GAP, p->plot->title, PFD_ANCHOR_START, false,
                    p->plot->colours.ink);
    for (size_t i = 0; i < p->plot->n_panels; i++)
        draw_panel(p, i, canvas, &m);
    if (p->is_shaded) {
        draw_legend(p, canvas,
                    (int64_t)(p->across * (m.left + p->width + m.right)) + GAP,
                    GAP + LINE + (int64_t)m.top, height);
    }
}

bool pfd_plot_pixels(struct pfd_plot *plot, const struct pfd_picture *picture,
                     struct pfd_raster *ret)
{
    size_t width = picture->width;
    size_t height = picture->height;
    struct pfd_canvas canvas = { .raster = ret };
    if (!plot->spec.bare)
        pfd_picture_extent(picture, &width, &height);
    enum pfd_status status =
        pfd_raster_init(ret, width, height, plot->colours.empty);
    if (status == PFD_ERR_NOMEM)
        return pfd_plot_fail(plot, status, "out of memory");
    if (status != PFD_OK) {
        return pfd_plot_fail(plot, status,
                             "the picture would have too many pixels: fewer "
                             "--cells, or a smaller --pixel");
    }
    if (plot->spec.bare) {
        pfd_picture_inside(picture, 0, &canvas, 0, 0);
    } else {
        pfd_picture_draw(picture, &canvas);
    }
    return true;
}
