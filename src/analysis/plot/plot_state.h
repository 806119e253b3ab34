/* SPDX-License-Identifier: MIT */
/* Internals of a plot that its files share. */
#ifndef PFD_PLOT_PLOT_STATE_H
#define PFD_PLOT_PLOT_STATE_H

#include "analysis/plot/colours.h"
#include "analysis/plot/grid.h"
#include "core/base/text.h"
#include "core/output/points.h"

enum {
    PFD_PANELS_MAX = 16,
    PFD_PANEL_NAME = 64,
    PFD_PLOT_GRIDS = 4,
};

enum pfd_plot_role {
    PFD_ROLE_X,
    PFD_ROLE_Y,
    PFD_ROLE_VALUE,
    PFD_ROLE_BY,
    PFD_ROLES,
};

/* The grids of a line: first, last, least and greatest of each column. Any
 * other plot has one grid. */
enum {
    PFD_LINE_FIRST,
    PFD_LINE_LAST,
    PFD_LINE_MIN,
    PFD_LINE_MAX,
};

struct pfd_panel {
    uint8_t type; /* enum pfd_point_type */
    uint64_t bits;
    char *text; /* [bits] of a text; owned */
    char name[PFD_PANEL_NAME];
};

struct pfd_plot {
    struct pfd_plot_spec spec;
    struct pfd_points points;
    struct pfd_consumer consumer;
    int role[PFD_ROLES]; /* index among the points' values; -1: none */
    char label[PFD_ROLES][PFD_PANEL_NAME];
    char title[256];
    struct pfd_grid grids[PFD_PLOT_GRIDS]; /* [n_grids] */
    size_t n_grids;
    struct pfd_panel panels[PFD_PANELS_MAX]; /* [n_panels] */
    size_t n_panels;
    size_t last_panel;
    struct pfd_double_double range[2]; /* of colours, if set: */
    bool has_range[2];
    struct pfd_text waiting; /* runs of points, until the first cell width is
                                decided */
    size_t n_waiting;        /* points */
    bool is_begun;
    uint64_t order;  /* greater than that of all earlier points */
    uint64_t before; /* likewise, of earlier buffers */
    size_t n_shared; /* bytes of cells that workers own */
    struct pfd_plot_counts counts;
    struct pfd_colours colours;
    struct pfd_error error;
};

/* Finds the values that the plot takes of entries. False: see error. */
bool pfd_plot_find_columns(struct pfd_plot *plot);

/* Reduces a plot's points on the workers of a conversion (worker_share.c). */
extern const struct pfd_point_reducer pfd_plot_reducer;

/* Takes runs of points, [n] bytes. */
void pfd_plot_take(struct pfd_plot *plot, const void *runs, size_t n);
/* Takes the waiting points, since the picture is drawn now. */
void pfd_plot_begin(struct pfd_plot *plot);

/* Sets the error, unless one is set. Always false. */
bool pfd_plot_fail(struct pfd_plot *plot, enum pfd_status code,
                   const char *text);

#endif
