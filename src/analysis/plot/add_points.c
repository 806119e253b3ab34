/* SPDX-License-Identifier: MIT */
/* Adds points to the cells of a plot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plot/plot_state.h"

enum {
    WAITING_MAX = 1 << 16 /* points that wait, to decide the first cell width */
};

/* The values of one point, by role. */
struct point {
    uint8_t type[PFD_ROLES];
    uint64_t bits[PFD_ROLES];
    const char *text[PFD_ROLES]; /* of a text, [bits] */
};

static struct pfd_double_double number(uint8_t type, uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return type == PFD_POINT_INT        ? pfd_double_double_int((int64_t)bits)
           : type == PFD_POINT_UNSIGNED ? pfd_double_double_unsigned(bits)
                                        : pfd_double_double_round(d);
}

/* ---- panels ---- */

static void name_panel(struct pfd_panel *panel)
{
    char shown[4 * 15 + 1];
    if (panel->type == PFD_POINT_NONE) {
        snprintf(panel->name, sizeof panel->name, "(none)");
    } else if (panel->type != PFD_POINT_TEXT) {
        pfd_double_double_print(panel->name, number(panel->type, panel->bits));
    } else {
        struct pfd_quoted quoted;
        snprintf(shown, sizeof shown, "%s",
                 pfd_quote(&quoted, panel->text, (size_t)panel->bits));
        snprintf(panel->name, sizeof panel->name, "%s", shown);
    }
}

static bool is_panel(const struct pfd_panel *panel, uint8_t type, uint64_t bits,
                     const char *text)
{
    return panel->type == type && panel->bits == bits &&
           (type != PFD_POINT_TEXT || !memcmp(panel->text, text, (size_t)bits));
}

static bool make_panel(struct pfd_plot *plot, uint8_t type, uint64_t bits,
                       const char *text)
{
    struct pfd_panel *panel = &plot->panels[plot->n_panels];
    *panel = (struct pfd_panel){ .type = type, .bits = bits };
    if (type == PFD_POINT_TEXT) {
        panel->text = malloc(bits ? (size_t)bits : 1);
        if (!panel->text)
            return pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
        memcpy(panel->text, text, (size_t)bits);
    }
    name_panel(panel);
    plot->n_panels++;
    bool ok = true;
    for (size_t i = 0; i < plot->n_grids; i++)
        ok &= pfd_grid_add_panel(&plot->grids[i]);
    return ok || pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
}

/* The panel of a point; SIZE_MAX: there are too many. */
static size_t panel_of(struct pfd_plot *plot, const struct point *p)
{
    uint8_t type = p->type[PFD_ROLE_BY];
    uint64_t bits = p->bits[PFD_ROLE_BY];
    const char *text = p->text[PFD_ROLE_BY];
    if (plot->role[PFD_ROLE_BY] < 0)
        return 0;
    if (is_panel(&plot->panels[plot->last_panel], type, bits, text) &&
        plot->n_panels)
        return plot->last_panel;
    for (size_t i = 0; i < plot->n_panels; i++) {
        if (is_panel(&plot->panels[i], type, bits, text))
            return plot->last_panel = i;
    }
    if (plot->n_panels == PFD_PANELS_MAX || !make_panel(plot, type, bits, text))
        return SIZE_MAX;
    return plot->last_panel = plot->n_panels - 1;
}

/* ---- points ---- */

/* Is the role a coordinate of the grid? The value of a heat picture and the y
 * of a line are not. */
static bool is_coordinate(const struct pfd_plot *plot, int role)
{
    return role == PFD_ROLE_X ||
           (role == PFD_ROLE_Y && plot->spec.kind != PFD_PLOT_LINE);
}

/* Does the point have all values that the plot needs? Counts it if not. */
static bool is_usable(struct pfd_plot *plot, const struct point *p)
{
    for (int r = 0; r < PFD_ROLE_BY; r++) {
        if (plot->role[r] < 0)
            continue;
        if (p->type[r] == PFD_POINT_TEXT) {
            plot->counts.texts++;
            return false;
        }
        if (p->type[r] == PFD_POINT_NONE) {
            plot->counts.without++;
            return false;
        }
    }
    return true;
}

static void add(struct pfd_plot *plot, size_t panel, struct pfd_double_double x,
                struct pfd_double_double y, struct pfd_double_double value,
                uint64_t order)
{
    if (plot->spec.kind == PFD_PLOT_LINE) {
        for (size_t i = 0; i < plot->n_grids; i++) {
            pfd_grid_add(&plot->grids[i], panel, x, pfd_double_double_round(0),
                         y, order);
        }
    } else {
        pfd_grid_add(&plot->grids[0], panel, x, y, value, order);
    }
}

static void add_point(struct pfd_plot *plot, const struct point *p,
                      uint64_t order)
{
    struct pfd_double_double values[PFD_ROLE_BY] = { { 0, 0 } };
    if (!is_usable(plot, p))
        return;
    size_t panel = panel_of(plot, p);
    if (panel == SIZE_MAX) {
        plot->counts.unpanelled++;
        return;
    }
    for (int r = 0; r < PFD_ROLE_BY; r++) {
        if (plot->role[r] >= 0)
            values[r] = number(p->type[r], p->bits[r]);
    }
    add(plot, panel, values[PFD_ROLE_X], values[PFD_ROLE_Y],
        values[PFD_ROLE_VALUE], order);
}

static const uint64_t *values_of(const struct pfd_point_run *run)
{
    return (const uint64_t *)(const void *)(run + 1);
}

static void read_point(const struct pfd_plot *plot,
                       const struct pfd_point_run *run, size_t i,
                       struct point *ret)
{
    const uint64_t *values = values_of(run) + i * run->n_values;
    const char *text = (const char *)(values + run->n_values);
    *ret = (struct point){ 0 };
    for (size_t k = 0; k < run->n_values; k++) {
        for (int r = 0; r < PFD_ROLES; r++) {
            if (plot->role[r] != (int)k)
                continue;
            ret->type[r] = run->type[k];
            ret->bits[r] = values[k];
            ret->text[r] = text;
        }
        if (run->type[k] == PFD_POINT_TEXT)
            text += values[k];
    }
}

/* Are all its values doubles, and is none the value that panels are made by? */
static bool is_quick(const struct pfd_plot *plot,
                     const struct pfd_point_run *run)
{
    for (size_t k = 0; k < run->n_values; k++) {
        if (run->type[k] != PFD_POINT_DOUBLE)
            return false;
    }
    return plot->role[PFD_ROLE_BY] < 0;
}

static struct pfd_grid_doubles doubles_of(const struct pfd_plot *plot,
                                          const struct pfd_point_run *run)
{
    bool is_line = plot->spec.kind == PFD_PLOT_LINE;
    return (struct pfd_grid_doubles){
        .all = (const double *)(const void *)(run + 1),
        .n = run->n,
        .stride = run->n_values,
        .x = plot->role[PFD_ROLE_X],
        .y = is_line ? -1 : plot->role[PFD_ROLE_Y],
        .value = plot->role[is_line ? PFD_ROLE_Y : PFD_ROLE_VALUE],
    };
}

static void take_quickly(struct pfd_plot *plot, const struct pfd_point_run *run,
                         uint64_t order)
{
    const struct pfd_grid_doubles points = doubles_of(plot, run);
    for (size_t i = 0; i < plot->n_grids; i++)
        pfd_grid_add_doubles(&plot->grids[i], 0, &points, order);
}

static void take_run(struct pfd_plot *plot, const struct pfd_point_run *run)
{
    struct point p;
    uint64_t order = plot->before + run->order;
    plot->order = order + run->n > plot->order ? order + run->n : plot->order;
    if (is_quick(plot, run)) {
        take_quickly(plot, run, order);
        return;
    }
    for (size_t i = 0; i < run->n; i++) {
        read_point(plot, run, i, &p);
        add_point(plot, &p, order + i);
    }
}

/* ---- first cell width ---- */

/* Finds the coordinates that have fractions, and need cells narrower than 1. */
static void find_fractions(const struct pfd_plot *plot,
                           const struct pfd_point_run *run,
                           bool parts[PFD_ROLES])
{
    struct point p;
    for (size_t i = 0; i < run->n; i++) {
        read_point(plot, run, i, &p);
        for (int r = 0; r < PFD_ROLES; r++) {
            double d;
            memcpy(&d, &p.bits[r], sizeof d);
            parts[r] |=
                p.type[r] == PFD_POINT_DOUBLE && isfinite(d) && d != floor(d);
        }
    }
}

/* Grows the grids to waiting points while they are empty: no cell has to be
 * moved. */
static void reach(struct pfd_plot *plot, const struct pfd_point_run *run)
{
    const struct pfd_grid_doubles points = doubles_of(plot, run);
    for (size_t i = 0; i < plot->n_grids && is_quick(plot, run); i++)
        pfd_grid_reach(&plot->grids[i], &points, 0);
}

static void expect(struct pfd_plot *plot, const struct pfd_point_run *run)
{
    const struct pfd_grid_doubles points = doubles_of(plot, run);
    for (size_t i = 0; i < plot->n_grids && is_quick(plot, run); i++)
        pfd_grid_expect(&plot->grids[i], 0, &points);
}

static void begin_axis(const struct pfd_plot *plot, struct pfd_axis *axis,
                       int role, bool has_parts)
{
    struct pfd_axis made;
    pfd_axis_init(&made, axis->max, !(is_coordinate(plot, role) && has_parts));
    if (axis->is_limited)
        pfd_axis_limit(&made, axis->low, axis->high);
    *axis = made;
}

/* The next run in [n] bytes; *at moves behind it. NULL: no more. */
static const struct pfd_point_run *next_run(const void *bytes, size_t n,
                                            size_t *at)
{
    if (*at >= n)
        return NULL;
    const struct pfd_point_run *run =
        (const void *)((const uint8_t *)bytes + *at);
    *at += run->n_bytes;
    return run;
}

static void check_grids(struct pfd_plot *plot)
{
    bool failed = plot->waiting.failed;
    for (size_t i = 0; i < plot->n_grids; i++)
        failed |= plot->grids[i].failed;
    if (failed) {
        pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
    } else if (plot->grids[0].is_too_wide) {
        pfd_plot_fail(plot, PFD_ERR_UNSUPPORTED,
                      "values differ too much to be added up in so many cells: "
                      "have fewer of them");
    }
}

void pfd_plot_begin(struct pfd_plot *plot)
{
    const struct pfd_text *w = &plot->waiting;
    const struct pfd_point_run *run;
    bool parts[PFD_ROLES] = { false };
    if (plot->is_begun)
        return;
    plot->is_begun = true;
    for (size_t at = 0; (run = next_run(w->data, w->n, &at));)
        find_fractions(plot, run, parts);
    for (size_t i = 0; i < plot->n_grids; i++) {
        begin_axis(plot, &plot->grids[i].x, PFD_ROLE_X, parts[PFD_ROLE_X]);
        begin_axis(plot, &plot->grids[i].y, PFD_ROLE_Y, parts[PFD_ROLE_Y]);
    }
    for (size_t at = 0; (run = next_run(w->data, w->n, &at));)
        reach(plot, run);
    for (size_t at = 0; (run = next_run(w->data, w->n, &at));)
        expect(plot, run);
    for (size_t i = 0; i < plot->n_grids; i++)
        pfd_grid_settle(&plot->grids[i]);
    for (size_t at = 0; (run = next_run(w->data, w->n, &at));)
        take_run(plot, run);
    check_grids(plot);
    pfd_text_free(&plot->waiting);
}

static void take_or_wait(struct pfd_plot *plot, const struct pfd_point_run *run)
{
    if (run->kind == PFD_RUN_OTHER) {
        plot->counts.others += run->n;
    } else if (run->kind == PFD_RUN_UNKNOWN) {
        plot->counts.unknown += run->n;
    } else if (plot->is_begun) {
        take_run(plot, run);
    } else {
        pfd_text_add(&plot->waiting, run, run->n_bytes);
        plot->n_waiting += run->n;
        if (plot->n_waiting >= WAITING_MAX)
            pfd_plot_begin(plot);
    }
}

void pfd_plot_take(struct pfd_plot *plot, const void *runs, size_t n)
{
    const struct pfd_point_run *run;
    for (size_t at = 0; (run = next_run(runs, n, &at));)
        take_or_wait(plot, run);
    check_grids(plot);
}
