/* SPDX-License-Identifier: MIT */
/*
 * Pictures: entries reduced into a grid of cells, in one pass and in memory
 * that does not grow with them, then shaded.
 *
 *   pfd_plot_new(), then pfd_convert_*() with `points` of pfd_plot_points() and
 *   pfd_plot_write() for each buffer, then pfd_plot_draw()
 *
 * Thread rule: a plot belongs to one thread at a time.
 */
#ifndef PRINTFDECODE_PLOT_H
#define PRINTFDECODE_PLOT_H

#include <printfdecode/convert.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pfd_plot_kind {
    PFD_PLOT_HEAT,    /* a value at x and y */
    PFD_PLOT_HIST,    /* how often each x is there */
    PFD_PLOT_SCATTER, /* which x and y are there; how often, where many are */
    PFD_PLOT_LINE,    /* y over x, in the order of x */
};

/* What becomes of several values of one cell. */
enum pfd_reducer {
    PFD_REDUCE_LAST,
    PFD_REDUCE_FIRST,
    PFD_REDUCE_COUNT, /* how many there are, whatever they are */
    PFD_REDUCE_SUM,
    PFD_REDUCE_MIN, /* of those that are numbers; NaN if none is */
    PFD_REDUCE_MAX,
    PFD_REDUCE_MEAN,
    PFD_REDUCE_NAN, /* how many are NaN */
};

/* How numbers become colours; of a histogram, heights. */
enum pfd_plot_scale {
    PFD_SCALE_LINEAR,
    PFD_SCALE_LOG,   /* what is not above zero is as the least above it */
    PFD_SCALE_EQUAL, /* each colour for as many cells */
};

/*
 * What is to be drawn; borrowed until the plot is freed, zero or NULL where
 * nothing is said. A column is the name or the number (from 0) of an argument,
 * as `pfd_table_spec` has them, or index, time, or something of an origin, as
 * "lane" or "workgroup.x".
 */
struct pfd_plot_spec {
    const struct pfd_strings *strings;
    /* The format string of the entries by its number among the strings;
     * SIZE_MAX: of the first entry that comes. */
    size_t string;
    /* Entries are of other strings, too: those of this string's text count.
     * They come through pfd_plot_add(), and strings are borrowed for the call
     * of pfd_plot_new() only. */
    bool any_strings;
    enum pfd_plot_kind kind;
    const char *x;
    const char *y;
    const char *value;
    const char *by; /* a panel for each value of this column */
    enum pfd_reducer reducer;
    enum pfd_plot_scale scale;
    /* "LOW:HIGH", both included, either may be missing where nothing is
     * needed to be known: as wide as what comes. */
    const char *x_range;
    const char *y_range;
    const char *range; /* of colours */
    uint64_t cells;    /* in a row or column at the most; 0: as fits */
    uint64_t pixel;    /* of the screen a cell, each way; 0: as fits */
    bool bare;         /* nothing but the cells */
    bool dark;
    const char *map;   /* a name of pfd_plot_map_get() */
    const char *title; /* UTF-8; NULL: the format string */
};

/* Names of colour maps; static storage. PFD_OK; PFD_END: there is no i. */
PFD_API enum pfd_status pfd_plot_map_get(size_t i, const char **ret);

/* A form that pictures are drawn in; static storage. */
struct pfd_plot_output {
    const char *name;   /* "png" */
    const char *title;  /* one line */
    const char *suffix; /* of files; NULL: none is usual */
    bool is_text;       /* for terminals */
};

/* Outputs by number. PFD_OK; PFD_END: there is no i. Any thread. */
PFD_API enum pfd_status pfd_plot_output_get(size_t i,
                                            struct pfd_plot_output *ret);

/* What was done, and what could not be. */
struct pfd_plot_counts {
    uint64_t points;     /* that are in the picture */
    uint64_t unknown;    /* entries of unknown ids */
    uint64_t others;     /* entries of other format strings than the one */
    uint64_t without;    /* entries without one of the columns */
    uint64_t texts;      /* entries where one of them is a text */
    uint64_t nowhere;    /* points with a coordinate that is NaN or infinite */
    uint64_t outside;    /* points that the ranges leave out */
    uint64_t unpanelled; /* points of more values of `by` than panels */
    uint64_t several;    /* cells that got more than one value */
    uint64_t nan;        /* cells that are NaN, and so on */
    uint64_t plus_inf;
    uint64_t minus_inf;
    uint64_t empty;
    uint64_t numbers;
    uint64_t not_above_0; /* numbers that a logarithm has no place for */
    int cell_x;           /* a cell is 2 to the power of this wide */
    int cell_y;           /* and high */
};

struct pfd_plot;

/* PFD_OK; PFD_ERR_USAGE: what is asked for does not fit together, or there is
 * no such column (the text lists those that there are); PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_plot_new(const struct pfd_plot_spec *spec,
                                     struct pfd_plot **ret,
                                     struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_plot_free(struct pfd_plot *plot);

/* For pfd_convert.points; the plot's. */
PFD_API const struct pfd_points *pfd_plot_points(const struct pfd_plot *plot);

/* A pfd_write_fn; user: the plot. False: out of memory. */
PFD_API bool pfd_plot_write(void *user, const void *bytes, size_t n);

/* The same for one entry, for those who make them themselves. time:
 * nanoseconds since 1970; 0: unknown. */
PFD_API bool pfd_plot_add(struct pfd_plot *plot, struct pfd_entry *entry,
                          uint64_t time);

/* Where it is drawn. */
struct pfd_plot_screen {
    unsigned columns; /* of a terminal */
    unsigned rows;
    unsigned width; /* of it, pixels; 0: not known */
    unsigned height;
};

/*
 * Draws what has come so far, in the form of this name; screen may be NULL
 * where the form is no text. May be called again when more has come. PFD_OK;
 * PFD_ERR_USAGE: nothing can be drawn, and why; PFD_ERR_UNSUPPORTED: it would
 * be too large; PFD_ERR_STOPPED: write() said so; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_plot_draw(struct pfd_plot *plot, const char *output,
                                      const struct pfd_plot_screen *screen,
                                      pfd_write_fn write, void *write_user,
                                      struct pfd_error *err);

PFD_API void pfd_plot_counts(struct pfd_plot *plot,
                             struct pfd_plot_counts *ret);

#ifdef __cplusplus
}
#endif

#endif
