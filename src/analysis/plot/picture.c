/* SPDX-License-Identifier: MIT */
#include "analysis/plot/picture.h"

#include <stdio.h>
#include <string.h>

#include "analysis/plot/axis.h"

enum {
    USUAL_HEAT = 480,  /* pixels of a picture of few cells */
    USUAL_WIDTH = 560, /* and of a picture without cells of its own */
    USUAL_HEIGHT = 320,
    USUAL_PANEL = 240, /* likewise, of one of several panels */
    FEW_POINTS = 5000, /* drawn as dots; more as a density */
    DOT = 3,
};

/* ---- contents ---- */

bool pfd_picture_is_down(const struct pfd_picture *p)
{
    return p->plot->spec.kind == PFD_PLOT_HEAT;
}

static bool has_bars(const struct pfd_picture *p)
{
    return p->plot->spec.kind == PFD_PLOT_HIST ||
           p->plot->spec.kind == PFD_PLOT_LINE;
}

static bool is_log(const struct pfd_picture *p)
{
    return p->plot->spec.scale == PFD_SCALE_LOG;
}

/* Sets the range of y: from 0 for bars (0.5 if logarithmic), from the least
 * value for lines, unless limits are set. */
static void find_heights(struct pfd_picture *p)
{
    struct pfd_grid_sums sums;
    if (p->plot->spec.kind == PFD_PLOT_HIST) {
        p->low = pfd_double_double_round(is_log(p) ? 0.5 : 0);
        p->high = p->sums.high;
        return;
    }
    pfd_grid_sum(&p->grids[PFD_LINE_MIN], &sums);
    p->low = sums.low;
    pfd_grid_sum(&p->grids[PFD_LINE_MAX], &sums);
    p->high = sums.high;
    if (is_log(p)) {
        pfd_grid_sum(&p->grids[PFD_LINE_MIN], &sums);
        p->low = sums.least_above_0;
    }
    if (p->plot->has_range[0])
        p->low = p->plot->range[0];
    if (p->plot->has_range[1])
        p->high = p->plot->range[1];
}

static size_t fit(size_t wanted, size_t n)
{
    return n && wanted > n ? wanted / n : 1;
}

static void find_size(struct pfd_picture *p,
                      const struct pfd_picture_size *size)
{
    bool several = p->plot->n_panels > 1;
    bool heat = p->plot->spec.kind == PFD_PLOT_HEAT;
    size_t width = size->width ? size->width
                   : several   ? USUAL_PANEL
                   : heat      ? USUAL_HEAT
                               : USUAL_WIDTH;
    size_t height = size->height ? size->height
                    : several    ? USUAL_PANEL * 2 / 3
                    : heat       ? USUAL_HEAT
                                 : USUAL_HEIGHT;
    p->pixel_x = size->pixel ? (size_t)size->pixel : fit(width, p->n_x);
    p->pixel_y = size->pixel ? (size_t)size->pixel : fit(height, p->n_y);
    if (heat && !size->pixel) {
        size_t least = p->pixel_x < p->pixel_y ? p->pixel_x : p->pixel_y;
        p->pixel_x = least;
        p->pixel_y = least;
    }
    p->width = p->n_x * p->pixel_x;
    p->height = has_bars(p) ? height : p->n_y * p->pixel_y;
    p->across = 1;
    while (p->across * p->across < p->plot->n_panels)
        p->across++;
    p->down = (p->plot->n_panels + p->across - 1) / p->across;
}

static bool fail_empty(struct pfd_plot *plot)
{
    const struct pfd_plot_counts *c = &plot->counts;
    const char *why =
        c->texts     ? "columns that are drawn have numbers, and one of these "
                       "has texts"
        : c->without ? "no entry has a value in each of the columns"
        : plot->grids[0].n_nowhere ? "no coordinate is a finite number"
        : plot->grids[0].n_outside ? "the ranges leave all points out"
        : c->others ? "no entry is of the format string that is drawn"
                    : "there are no entries";
    pfd_plot_fail(plot, PFD_ERR_USAGE, "nothing to draw: ");
    snprintf(plot->error.text, sizeof plot->error.text, "nothing to draw: %s",
             why);
    return false;
}

bool pfd_picture_init(struct pfd_picture *ret, struct pfd_plot *plot,
                      struct pfd_grid *grids,
                      const struct pfd_picture_size *size)
{
    *ret = (struct pfd_picture){ .plot = plot, .grids = grids };
    if (!grids[0].n_points)
        return fail_empty(plot);
    pfd_grid_sum(&grids[0], &ret->sums);
    for (size_t i = 1; i < plot->n_grids; i++) {
        struct pfd_grid_sums unused;
        pfd_grid_sum(&grids[i], &unused);
    }
    ret->n_x = pfd_axis_used(&grids[0].x);
    ret->n_y = pfd_axis_used(&grids[0].y);
    bool many = grids[0].n_points > FEW_POINTS;
    ret->is_shaded = plot->spec.kind == PFD_PLOT_HEAT ||
                     (plot->spec.kind == PFD_PLOT_SCATTER && many);
    if (has_bars(ret))
        find_heights(ret);
    find_size(ret, size);
    return pfd_colour_scale_init(&ret->colour_scale, plot->spec.scale,
                                 &grids[0], &ret->sums,
                                 plot->has_range[0] ? &plot->range[0] : NULL,
                                 plot->has_range[1] ? &plot->range[1] : NULL) ||
           pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
}

void pfd_picture_deinit(struct pfd_picture *picture)
{
    pfd_colour_scale_deinit(&picture->colour_scale);
}

/* ---- cells ---- */

static struct pfd_colour colour_of(const struct pfd_picture *p,
                                   const struct pfd_grid_cell *cell)
{
    const struct pfd_colours *c = &p->plot->colours;
    struct pfd_double_double v = { 0, 0 };
    switch (pfd_grid_read_cell(cell, p->grids[0].reducer, &v)) {
    case PFD_GRID_NAN:
        return c->nan;
    case PFD_GRID_PLUS_INF:
        return c->plus_inf;
    case PFD_GRID_MINUS_INF:
        return c->minus_inf;
    case PFD_GRID_NUMBER:
        return p->is_shaded
                   ? pfd_colours_at(c,
                                    pfd_colour_scale_share(&p->colour_scale, v))
                   : c->mark;
    case PFD_GRID_EMPTY:
    case PFD_GRID_KINDS:
        break;
    }
    return c->empty;
}

static bool is_same(struct pfd_colour a, struct pfd_colour b)
{
    return a.r == b.r && a.g == b.g && a.b == b.b;
}

/* Draws a row of cells, equal colours at once. */
static void draw_row(const struct pfd_picture *p, size_t panel, pfd_place row,
                     struct pfd_canvas *canvas, int64_t x, int64_t y)
{
    const struct pfd_axis *axis = &p->grids[0].x;
    size_t start = 0;
    struct pfd_colour colour = { 0, 0, 0 };
    for (size_t i = 0; i <= p->n_x; i++) {
        struct pfd_colour next =
            i < p->n_x
                ? colour_of(p, pfd_grid_at(&p->grids[0], panel,
                                           axis->seen[0] + (pfd_place)i, row))
                : colour;
        if (i && (i == p->n_x || !is_same(next, colour))) {
            if (!is_same(colour, p->plot->colours.empty)) {
                pfd_canvas_fill(canvas, x + (int64_t)(start * p->pixel_x), y,
                                (int64_t)((i - start) * p->pixel_x),
                                (int64_t)p->pixel_y, colour);
            }
            start = i;
        }
        colour = next;
    }
}

static void draw_cells(const struct pfd_picture *p, size_t panel,
                       struct pfd_canvas *canvas, int64_t x, int64_t y)
{
    const struct pfd_axis *axis = &p->grids[0].y;
    for (size_t j = 0; j < p->n_y; j++) {
        pfd_place row = pfd_picture_is_down(p) ? axis->seen[0] + (pfd_place)j
                                               : axis->seen[1] - (pfd_place)j;
        draw_row(p, panel, row, canvas, x, y + (int64_t)(j * p->pixel_y));
    }
}

static void draw_dots(const struct pfd_picture *p, size_t panel,
                      struct pfd_canvas *canvas, int64_t x, int64_t y)
{
    const struct pfd_grid *g = &p->grids[0];
    int64_t dot = p->width >= 4 * DOT * 8 ? DOT : 1;
    for (size_t j = 0; j < p->n_y; j++) {
        for (size_t i = 0; i < p->n_x; i++) {
            const struct pfd_grid_cell *c =
                pfd_grid_at(g, panel, g->x.seen[0] + (pfd_place)i,
                            g->y.seen[1] - (pfd_place)j);
            if (!c || !c->n)
                continue;
            pfd_canvas_fill(
                canvas,
                x + (int64_t)(i * p->pixel_x + p->pixel_x / 2) - dot / 2,
                y + (int64_t)(j * p->pixel_y + p->pixel_y / 2) - dot / 2, dot,
                dot, p->plot->colours.mark);
        }
    }
}

/* ---- bars and lines ---- */

/* Pixels above the floor. */
static int64_t height_of(const struct pfd_picture *p,
                         struct pfd_double_double v)
{
    struct pfd_colour_scale way = { .kind = is_log(p) ? PFD_SCALE_LOG
                                                      : PFD_SCALE_LINEAR,
                                    .low = p->low,
                                    .high = p->high };
    return (int64_t)(pfd_colour_scale_share(&way, v) * (double)(p->height - 1) +
                     0.5);
}

static void draw_bars(const struct pfd_picture *p, size_t panel,
                      struct pfd_canvas *canvas, int64_t x, int64_t y)
{
    const struct pfd_axis *axis = &p->grids[0].x;
    int64_t gap = p->pixel_x > 3 ? 1 : 0;
    for (size_t i = 0; i < p->n_x; i++) {
        const struct pfd_grid_cell *c =
            pfd_grid_at(&p->grids[0], panel, axis->seen[0] + (pfd_place)i, 0);
        if (!c || !c->n)
            continue;
        int64_t high = height_of(p, pfd_double_double_unsigned(c->n)) + 1;
        pfd_canvas_fill(canvas, x + (int64_t)(i * p->pixel_x),
                        y + (int64_t)p->height - high,
                        (int64_t)p->pixel_x - gap, high, p->plot->colours.mark);
    }
}

/* The number of a grid in a column of lines; false: none. */
static bool number_at(const struct pfd_picture *p, int grid, size_t panel,
                      size_t i, struct pfd_double_double *ret)
{
    const struct pfd_grid *g = &p->grids[grid];
    const struct pfd_grid_cell *c =
        pfd_grid_at(g, panel, g->x.seen[0] + (pfd_place)i, 0);
    return pfd_grid_read_cell(c, g->reducer, ret) == PFD_GRID_NUMBER;
}

/* Draws through the first, the least, the greatest and the last point of each
 * column: all its points would look the same. */
static void draw_line(const struct pfd_picture *p, size_t panel,
                      struct pfd_canvas *canvas, int64_t x, int64_t y)
{
    struct pfd_colour colour = p->plot->colours.mark;
    int64_t floor = y + (int64_t)p->height - 1;
    int64_t before_x = -1;
    int64_t before_y = 0;
    for (size_t i = 0; i < p->n_x; i++) {
        struct pfd_double_double v[4];
        int64_t at = x + (int64_t)(i * p->pixel_x + p->pixel_x / 2);
        const struct pfd_grid_cell *c = pfd_grid_at(
            &p->grids[0], panel, p->grids[0].x.seen[0] + (pfd_place)i, 0);
        bool first = number_at(p, PFD_LINE_FIRST, panel, i, &v[0]);
        bool last = number_at(p, PFD_LINE_LAST, panel, i, &v[1]);
        if (!c || !c->n)
            continue;
        if (number_at(p, PFD_LINE_MIN, panel, i, &v[2]) &&
            number_at(p, PFD_LINE_MAX, panel, i, &v[3])) {
            pfd_canvas_line(canvas, at, floor - height_of(p, v[2]), at,
                            floor - height_of(p, v[3]), colour);
        }
        if (first && before_x >= 0) {
            pfd_canvas_line(canvas, before_x, before_y, at,
                            floor - height_of(p, v[0]), colour);
        }
        before_x = last ? at : -1; /* NaN and infinities are gaps */
        before_y = last ? floor - height_of(p, v[1]) : 0;
    }
}

void pfd_picture_inside(const struct pfd_picture *p, size_t panel,
                        struct pfd_canvas *canvas, int64_t x, int64_t y)
{
    switch (p->plot->spec.kind) {
    case PFD_PLOT_HEAT:
        draw_cells(p, panel, canvas, x, y);
        break;
    case PFD_PLOT_HIST:
        draw_bars(p, panel, canvas, x, y);
        break;
    case PFD_PLOT_SCATTER:
        if (p->is_shaded) {
            draw_cells(p, panel, canvas, x, y);
        } else {
            draw_dots(p, panel, canvas, x, y);
        }
        break;
    case PFD_PLOT_LINE:
        draw_line(p, panel, canvas, x, y);
        break;
    }
}

void pfd_picture_ticks_y(const struct pfd_picture *p, struct pfd_ticks *ret,
                         size_t most)
{
    if (has_bars(p)) {
        pfd_ticks_of_range(ret, p->low, p->high, most, is_log(p));
    } else {
        pfd_ticks_of_axis(ret, &p->grids[0].y, most);
    }
}

/* ---- cells without a number ---- */

bool pfd_picture_note(const struct pfd_picture *p, size_t n,
                      struct pfd_picture_note *ret)
{
    const struct pfd_colours *c = &p->plot->colours;
    const uint64_t *all = p->sums.n;
    const struct {
        const char *name;
        uint64_t n;
        const struct pfd_colour *colour;
    } notes[] = {
        { "NaN", all[PFD_GRID_NAN], &c->nan },
        { "+inf", all[PFD_GRID_PLUS_INF], &c->plus_inf },
        { "-inf", all[PFD_GRID_MINUS_INF], &c->minus_inf },
        { "no value", all[PFD_GRID_EMPTY], &c->empty },
        { "several values", p->sums.n_several, NULL },
    };
    if (p->plot->spec.kind != PFD_PLOT_HEAT ||
        n >= sizeof notes / sizeof *notes)
        return false;
    snprintf(ret->text, sizeof ret->text, "%s %llu", notes[n].name,
             (unsigned long long)notes[n].n);
    ret->colour = notes[n].colour;
    return true;
}
