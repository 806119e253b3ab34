/* SPDX-License-Identifier: MIT */
#include "analysis/plot/text_picture.h"

#include <stdio.h>
#include <string.h>

enum {
    LABEL = 11,  /* characters left of the picture */
    AROUND = 4,  /* lines above and below it */
    LEGEND = 32, /* characters of colours */
    LEAST = 8,
    GLYPH_X = 8, /* pixels, for a terminal that does not report them */
    GLYPH_Y = 16,
    BESIDE_X = 220, /* pixels for axes and legend */
    BESIDE_Y = 90,
    PIXELS_MOST = 1200,
};

/* Coarser grids of a plot, which fit the terminal. */
struct small {
    struct pfd_grid grids[PFD_PLOT_GRIDS];
    size_t n;
};

static bool make_small(struct pfd_plot *plot, size_t max_x, size_t max_y,
                       struct small *ret)
{
    bool is_line =
        plot->spec.kind == PFD_PLOT_LINE || plot->spec.kind == PFD_PLOT_HIST;
    *ret = (struct small){ 0 };
    for (; ret->n < plot->n_grids; ret->n++) {
        if (!pfd_grid_coarser(&plot->grids[ret->n], max_x, is_line ? 1 : max_y,
                              &ret->grids[ret->n]))
            return pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
    }
    return true;
}

static void free_small(struct small *small)
{
    for (size_t i = 0; i < small->n; i++)
        pfd_grid_deinit(&small->grids[i]);
}

static size_t at_least(size_t n, size_t least)
{
    return n > least ? n : least;
}

/* ---- words ---- */

static void put_colour(struct pfd_text *out, int what, struct pfd_colour c)
{
    pfd_text_printf(out, "\033[%d;2;%u;%u;%um", what, c.r, c.g, c.b);
}

/* The texts of the upper and the lower end of y. */
static void y_ends(const struct pfd_picture *p,
                   char ends[2][PFD_DOUBLE_DOUBLE_TEXT])
{
    const struct pfd_axis *y = &p->grids[0].y;
    bool has_bars = p->plot->spec.kind == PFD_PLOT_LINE ||
                    p->plot->spec.kind == PFD_PLOT_HIST;
    struct pfd_double_double low =
        has_bars ? p->low : pfd_axis_start(y, y->seen[0]);
    struct pfd_double_double high =
        has_bars ? p->high : pfd_axis_start(y, y->seen[1]);
    bool down = pfd_picture_is_down(p);
    pfd_double_double_print(ends[0], down ? low : high);
    pfd_double_double_print(ends[1], down ? high : low);
}

static void put_x_ends(struct pfd_text *out, const struct pfd_picture *p,
                       size_t width)
{
    const struct pfd_axis *x = &p->grids[0].x;
    char ends[2][PFD_DOUBLE_DOUBLE_TEXT];
    pfd_double_double_print(ends[0], pfd_axis_start(x, x->seen[0]));
    pfd_double_double_print(ends[1], pfd_axis_start(x, x->seen[1]));
    int room = (int)width - (int)strlen(ends[0]) - (int)strlen(ends[1]);
    const char *label = p->plot->label[PFD_ROLE_X];
    int n = (int)(pfd_canvas_width(label) / PFD_GLYPH_WIDTH);
    if (room < n + 2) {
        pfd_text_printf(out, "%*s %s: %s to %s\n", LABEL, "", label, ends[0],
                        ends[1]);
        return;
    }
    pfd_text_printf(out, "%*s %s%*s%s%*s%s\n", LABEL, "", ends[0],
                    (room - n) / 2, "", label, room - n - (room - n) / 2, "",
                    ends[1]);
}

static void put_legend(struct pfd_text *out, const struct pfd_picture *p)
{
    char ends[2][PFD_DOUBLE_DOUBLE_TEXT];
    struct pfd_picture_note note;
    pfd_double_double_print(ends[0], p->colour_scale.low);
    pfd_double_double_print(ends[1], p->colour_scale.high);
    pfd_text_printf(out, "%s: %s ", p->plot->label[PFD_ROLE_VALUE], ends[0]);
    for (int i = 0; i < LEGEND && !p->colour_scale.is_empty; i++) {
        put_colour(out, 48,
                   pfd_colours_at(&p->plot->colours, i / (double)(LEGEND - 1)));
        pfd_text_puts(out, " ");
    }
    pfd_text_printf(out, "\033[0m %s", ends[1]);
    for (size_t i = 0; pfd_picture_note(p, i, &note); i++) {
        pfd_text_puts(out, i ? ", " : "; ");
        if (note.colour) {
            put_colour(out, 48, *note.colour);
            pfd_text_puts(out, "  \033[0m ");
        }
        pfd_text_puts(out, note.text);
    }
    pfd_text_puts(out, "\n");
}

/* ---- the picture ---- */

static void put_panel(struct pfd_text *out, const struct pfd_picture *p,
                      size_t panel, const struct pfd_dots *dots,
                      const struct pfd_raster *raster)
{
    char ends[2][PFD_DOUBLE_DOUBLE_TEXT];
    size_t rows = raster->height / dots->down;
    y_ends(p, ends);
    if (p->plot->role[PFD_ROLE_BY] >= 0) {
        pfd_text_printf(out, "%*s %s %s\n", LABEL, "",
                        p->plot->label[PFD_ROLE_BY],
                        p->plot->panels[panel].name);
    }
    for (size_t j = 0; j < rows; j++) {
        const char *label = j == 0          ? ends[0]
                            : j == rows - 1 ? ends[1]
                            : j == rows / 2 ? p->plot->label[PFD_ROLE_Y]
                                            : "";
        pfd_text_printf(out, "%*.*s ", LABEL, LABEL, label);
        for (size_t i = 0; i < raster->width; i += dots->across)
            dots->put(out, raster, i, j * dots->down, p->plot->colours.empty);
        pfd_text_puts(out, dots->has_colours ? "\033[0m\n" : "\n");
    }
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static void draw_panels(struct pfd_plot *plot, const struct pfd_picture *p,
                        const struct pfd_dots *dots, struct pfd_text *out)
{
    pfd_text_printf(out, "%s\n", plot->title);
    for (size_t i = 0; i < plot->n_panels; i++) {
        struct pfd_raster raster;
        struct pfd_canvas canvas = { .raster = &raster };
        if (pfd_raster_init(&raster, round_up(p->width, dots->across),
                            round_up(p->height, dots->down),
                            plot->colours.empty) != PFD_OK) {
            pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
            return;
        }
        pfd_picture_inside(p, i, &canvas, 0, 0);
        put_panel(out, p, i, dots, &raster);
        pfd_raster_deinit(&raster);
    }
    put_x_ends(out, p, p->width / dots->across);
    if (p->is_shaded && dots->has_colours)
        put_legend(out, p);
}

void pfd_plot_draw_text(struct pfd_plot *plot,
                        const struct pfd_plot_screen *screen,
                        const struct pfd_dots *dots, struct pfd_text *out)
{
    size_t n = plot->n_panels ? plot->n_panels : 1;
    size_t columns = at_least(screen->columns, LABEL + 2 + LEAST) - LABEL - 2;
    size_t rows = at_least(screen->rows, AROUND + LEAST) - AROUND;
    rows = at_least(rows / n, n > 1 ? LEAST : 1) - (n > 1);
    struct pfd_picture picture = { 0 };
    const struct pfd_picture_size size = {
        .width = columns * dots->across,
        .height = rows * dots->down,
    };
    struct small small;
    if (make_small(plot, size.width, size.height, &small) &&
        pfd_picture_init(&picture, plot, small.grids, &size))
        draw_panels(plot, &picture, dots, out);
    pfd_picture_deinit(&picture);
    free_small(&small);
}

bool pfd_plot_screen_pixels(struct pfd_plot *plot,
                            const struct pfd_plot_screen *screen,
                            struct pfd_raster *ret)
{
    size_t width = screen->width ? screen->width : screen->columns * GLYPH_X;
    size_t height = screen->height ? screen->height : screen->rows * GLYPH_Y;
    size_t across = 1;
    struct small small;
    struct pfd_picture picture = { 0 };
    while (across * across < plot->n_panels)
        across++;
    width = width > PIXELS_MOST ? PIXELS_MOST : width;
    height = height > PIXELS_MOST ? PIXELS_MOST : height;
    const struct pfd_picture_size size = {
        .width = at_least(width, BESIDE_X + 64 * across) / across -
                 BESIDE_X / across,
        .height = at_least(height / across, BESIDE_Y + 64) - BESIDE_Y,
    };
    *ret = (struct pfd_raster){ 0 };
    bool ok = make_small(plot, size.width, size.height, &small) &&
              pfd_picture_init(&picture, plot, small.grids, &size) &&
              pfd_plot_pixels(plot, &picture, ret);
    pfd_picture_deinit(&picture);
    free_small(&small);
    return ok;
}
