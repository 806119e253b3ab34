/* SPDX-License-Identifier: MIT */
#include "analysis/plot/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plot/picture.h"
#include "analysis/plot/plot_form.h"

enum {
    CELLS_HEAT = 16384, /* in a row, by default */
    CELLS_HIST = 64,
    CELLS_SCATTER = 280,
    CELLS_LINE = 560,
    CELLS_MOST = 1 << 16,
    PIXEL_MOST = 1024,
};

/* ---- the request ---- */

static bool check(struct pfd_plot *plot)
{
    const struct pfd_plot_spec *s = &plot->spec;
    bool has_y = s->kind != PFD_PLOT_HIST;
    bool counts = s->reducer == PFD_REDUCE_COUNT;
    const char *why =
        !has_y && s->y ? "a histogram has no y"
        : s->kind != PFD_PLOT_HEAT && s->value
            ? "only heat pictures have a value"
        : s->kind == PFD_PLOT_HEAT && !s->value && !counts
            ? "which column is the value? (Without one, entries are counted.)"
        : s->bare && s->kind != PFD_PLOT_HEAT
            ? "only heat pictures are nothing but cells"
        : s->bare && s->by ? "several panels are no bare picture"
        : s->cells > CELLS_MOST || s->pixel > PIXEL_MOST
            ? "no more than 65536 cells in a row, of 1024 pixels each"
            : NULL;
    if (why)
        return pfd_plot_fail(plot, PFD_ERR_USAGE, why);
    if (pfd_colours_init(&plot->colours, s->map, s->dark))
        return true;
    char list[128] = "";
    for (size_t i = 0, n = 0; pfd_colours_name(i) && n < sizeof list; i++) {
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
                              pfd_colours_name(i));
    }
    pfd_fail(&plot->error, PFD_ERR_USAGE, PFD_NO_OFFSET,
             "no colour map is called '%s'; there are: %s", s->map, list);
    return false;
}

/* Reads "LOW:HIGH"; both: neither may be absent. */
static bool read_range(struct pfd_plot *plot, const char *text, bool both,
                       struct pfd_double_double range[2], bool has[2])
{
    const char *at = text;
    for (int i = 0; i < 2; i++) {
        bool is_missing = *at == (i ? '\0' : ':');
        has[i] = !is_missing && pfd_double_double_read(at, &range[i], &at);
        if ((!has[i] && (both || !is_missing)) || *at != (i ? '\0' : ':')) {
            pfd_fail(&plot->error, PFD_ERR_USAGE, PFD_NO_OFFSET,
                     "not a range, as 0:511 or -1.5:1.5: '%s'", text);
            return false;
        }
        at += !i;
    }
    if (!has[0] || !has[1] ||
        pfd_double_double_compare(range[0], range[1]) <= 0)
        return true;
    pfd_fail(&plot->error, PFD_ERR_USAGE, PFD_NO_OFFSET,
             "a range ends before it begins: '%s'", text);
    return false;
}

static bool limit(struct pfd_plot *plot, struct pfd_axis *axis,
                  const char *text)
{
    struct pfd_double_double range[2];
    bool has[2];
    if (!text)
        return true;
    if (!read_range(plot, text, true, range, has))
        return false;
    pfd_axis_limit(axis, range[0], range[1]);
    return true;
}

static bool init_grids(struct pfd_plot *plot)
{
    static const enum pfd_reducer of_line[PFD_PLOT_GRIDS] = {
        [PFD_LINE_FIRST] = PFD_REDUCE_FIRST,
        [PFD_LINE_LAST] = PFD_REDUCE_LAST,
        [PFD_LINE_MIN] = PFD_REDUCE_MIN,
        [PFD_LINE_MAX] = PFD_REDUCE_MAX,
    };
    static const size_t cells[] = {
        [PFD_PLOT_HEAT] = CELLS_HEAT,
        [PFD_PLOT_HIST] = CELLS_HIST,
        [PFD_PLOT_SCATTER] = CELLS_SCATTER,
        [PFD_PLOT_LINE] = CELLS_LINE,
    };
    const struct pfd_plot_spec *s = &plot->spec;
    bool is_line = s->kind == PFD_PLOT_LINE;
    size_t most = s->cells ? (size_t)s->cells : cells[s->kind];
    plot->n_grids = is_line ? PFD_PLOT_GRIDS : 1;
    for (size_t i = 0; i < plot->n_grids; i++) {
        struct pfd_grid *g = &plot->grids[i];
        pfd_grid_init(g, is_line                    ? of_line[i]
                         : s->kind == PFD_PLOT_HEAT ? s->reducer
                                                    : PFD_REDUCE_COUNT);
        g->x.max = most;
        g->y.max = most;
        if (!limit(plot, &g->x, s->x_range) ||
            (!is_line && !limit(plot, &g->y, s->y_range)))
            return false;
        if (!s->by && !pfd_grid_add_panel(g))
            return pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
    }
    plot->n_panels = s->by ? 0 : 1;
    return true;
}

static void set_title(struct pfd_plot *plot)
{
    struct pfd_string_info info;
    struct pfd_quoted quoted;
    const struct pfd_plot_spec *s = &plot->spec;
    static const char *const reducers[] = {
        [PFD_REDUCE_LAST] = "last",   [PFD_REDUCE_FIRST] = "first",
        [PFD_REDUCE_COUNT] = "count", [PFD_REDUCE_SUM] = "sum",
        [PFD_REDUCE_MIN] = "min",     [PFD_REDUCE_MAX] = "max",
        [PFD_REDUCE_MEAN] = "mean",   [PFD_REDUCE_NAN] = "NaN count",
    };
    if (s->title) {
        snprintf(plot->title, sizeof plot->title, "%s",
                 pfd_quote(&quoted, s->title, strlen(s->title)));
    } else if (pfd_strings_get(s->strings, s->string, &info) == PFD_OK) {
        snprintf(plot->title, sizeof plot->title, "%s",
                 pfd_quote(&quoted, info.text, info.n_text));
    }
    char *label = plot->label[PFD_ROLE_VALUE];
    char name[PFD_PANEL_NAME];
    snprintf(name, sizeof name, "%s", label);
    if (s->kind == PFD_PLOT_HEAT && s->reducer != PFD_REDUCE_LAST && *name) {
        snprintf(label, PFD_PANEL_NAME, "%s of %.40s", reducers[s->reducer],
                 name);
    } else if (!*name) {
        snprintf(label, PFD_PANEL_NAME, "count");
    }
    if (s->kind == PFD_PLOT_HIST)
        snprintf(plot->label[PFD_ROLE_Y], PFD_PANEL_NAME, "count");
}

static bool set_text(struct pfd_plot *plot)
{
    struct pfd_string_info info;
    const struct pfd_plot_spec *s = &plot->spec;
    if (pfd_strings_get(s->strings, s->string, &info) == PFD_OK) {
        plot->points.text = malloc(info.n_text + 1);
        if (!plot->points.text)
            return pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
        memcpy(plot->points.text, info.text, info.n_text);
        plot->points.n_text = info.n_text;
    }
    return s->any_strings || pfd_points_plan(&plot->points, s->strings) ||
           pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
}

static bool take_runs(void *user, const void *bytes, size_t n)
{
    struct pfd_plot *plot = user;
    pfd_plot_take(plot, bytes, n);
    return plot->error.code == PFD_OK;
}

enum pfd_status pfd_plot_new(const struct pfd_plot_spec *spec,
                             struct pfd_plot **ret, struct pfd_error *err)
{
    struct pfd_plot *plot = calloc(1, sizeof *plot);
    *ret = plot;
    if (!plot)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    plot->spec = *spec;
    plot->points.reducer = &pfd_plot_reducer;
    plot->points.reducer_of = plot;
    plot->consumer = (struct pfd_consumer){
        .sink = &pfd_sink_points,
        .points = &plot->points,
        .take = take_runs,
        .user = plot,
    };
    if (check(plot) && pfd_plot_find_columns(plot) && set_text(plot) &&
        init_grids(plot) &&
        (!spec->range ||
         read_range(plot, spec->range, false, plot->range, plot->has_range))) {
        set_title(plot);
        return PFD_OK;
    }
    enum pfd_status status = plot->error.code;
    if (err)
        *err = plot->error;
    pfd_plot_free(plot);
    *ret = NULL;
    return status;
}

void pfd_plot_free(struct pfd_plot *plot)
{
    if (!plot)
        return;
    for (size_t i = 0; i < plot->n_grids; i++)
        pfd_grid_deinit(&plot->grids[i]);
    for (size_t i = 0; i < plot->n_panels; i++)
        free(plot->panels[i].text);
    pfd_points_deinit(&plot->points);
    pfd_text_free(&plot->waiting);
    free(plot);
}

/* ---- points ---- */

const struct pfd_consumer *pfd_plot_consumer(const struct pfd_plot *plot)
{
    return &plot->consumer;
}

bool pfd_plot_add(struct pfd_plot *plot, struct pfd_entry *entry, uint64_t time)
{
    struct pfd_text run = { 0 };
    plot->before = plot->order - entry->index; /* the next entry is the last
                                                  one */
    pfd_points_entry(&run, entry, &plot->points, time);
    if (run.failed) {
        pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
    } else {
        pfd_plot_take(plot, run.data, run.n);
    }
    pfd_text_free(&run);
    return plot->error.code == PFD_OK;
}

void pfd_plot_counts(struct pfd_plot *plot, struct pfd_plot_counts *ret)
{
    struct pfd_grid_sums sums;
    struct pfd_grid *g = &plot->grids[0];
    pfd_plot_begin(plot);
    pfd_grid_sum(g, &sums);
    *ret = plot->counts;
    ret->points = g->n_points;
    ret->nowhere = g->n_nowhere;
    ret->outside = g->n_outside;
    ret->several = sums.n_several;
    ret->nan = sums.n[PFD_GRID_NAN];
    ret->plus_inf = sums.n[PFD_GRID_PLUS_INF];
    ret->minus_inf = sums.n[PFD_GRID_MINUS_INF];
    ret->empty = sums.n[PFD_GRID_EMPTY];
    ret->numbers = sums.n[PFD_GRID_NUMBER];
    ret->not_above_0 =
        plot->spec.scale == PFD_SCALE_LOG ? sums.n_not_above_0 : 0;
    ret->cell_x = g->x.k;
    ret->cell_y = g->y.k;
}

/* ---- drawing ---- */

enum pfd_status pfd_plot_output_get(size_t i, struct pfd_plot_output *ret)
{
    if (!pfd_plot_forms[i])
        return PFD_END;
    *ret = pfd_plot_forms[i]->info;
    return PFD_OK;
}

static const struct pfd_plot_form *find_form(const char *name)
{
    for (size_t i = 0; pfd_plot_forms[i]; i++) {
        if (!strcmp(pfd_plot_forms[i]->info.name, name))
            return pfd_plot_forms[i];
    }
    return NULL;
}

enum pfd_status pfd_plot_draw(struct pfd_plot *plot, const char *output,
                              const struct pfd_plot_screen *screen,
                              pfd_write_fn write, void *write_user,
                              struct pfd_error *err)
{
    static const struct pfd_plot_screen usual = { .columns = 80, .rows = 24 };
    const struct pfd_plot_form *form = find_form(output);
    struct pfd_text out = { 0 };
    if (!form) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "no output of pictures is called '%s'", output);
    }
    if (plot->error.code == PFD_OK)
        pfd_plot_begin(plot);
    if (plot->error.code == PFD_OK)
        form->draw(plot, screen ? screen : &usual, &out);
    if (out.failed)
        pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
    enum pfd_status status = plot->error.code;
    if (status != PFD_OK && err)
        *err = plot->error;
    if (status == PFD_ERR_USAGE) /* more points may come */
        plot->error = (struct pfd_error){ 0 };
    if (status == PFD_OK && !write(write_user, out.data, out.n)) {
        status = pfd_fail(err, PFD_ERR_STOPPED, PFD_NO_OFFSET,
                          "writing was stopped");
    }
    pfd_text_free(&out);
    return status;
}
