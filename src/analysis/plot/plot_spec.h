/* SPDX-License-Identifier: MIT */
/* A plot as it is asked for, the forms that it is drawn in, and its counts. */
#ifndef PFD_PLOT_SPEC_H
#define PFD_PLOT_SPEC_H

#include <printfdecode/convert.h>

enum pfd_plot_kind {
    PFD_PLOT_HEAT,    /* a value at x and y */
    PFD_PLOT_HIST,    /* how often each x occurs */
    PFD_PLOT_SCATTER, /* which x and y occur; where points are dense, how
                         often */
    PFD_PLOT_LINE,    /* y over x, in the order of x */
};

/* How several values of one cell become one. */
enum pfd_reducer {
    PFD_REDUCE_LAST,
    PFD_REDUCE_FIRST,
    PFD_REDUCE_COUNT, /* the number of values, whatever they are */
    PFD_REDUCE_SUM,
    PFD_REDUCE_MIN, /* of the numbers; NaN if there is none */
    PFD_REDUCE_MAX,
    PFD_REDUCE_MEAN,
    PFD_REDUCE_NAN, /* the number of NaN */
};

/* How numbers become colours; of a histogram, heights. */
enum pfd_plot_scale {
    PFD_SCALE_LINEAR,
    PFD_SCALE_LOG,   /* numbers that are not above zero count as the least above
                        it */
    PFD_SCALE_EQUAL, /* each colour for equally many cells */
};

/*
 * A plot; borrowed until it is freed; zero or NULL: the default. A column is
 * the name or the number (from 0) of an argument, as `pfd_table_spec` has them,
 * or index, time, or an origin, as "lane" or "workgroup.x".
 */
struct pfd_plot_spec {
    const struct pfd_strings *strings;
    /* The format string of the entries, by its index in the set; SIZE_MAX: the
     * first entry's. */
    size_t string;
    /* Entries of other strings come, too: those with this string's text count.
     * They come through pfd_plot_add(), and strings are borrowed only for the
     * call of pfd_plot_new(). */
    bool any_strings;
    enum pfd_plot_kind kind;
    const char *x;
    const char *y;
    const char *value;
    const char *by; /* a panel for each value of this column */
    enum pfd_reducer reducer;
    enum pfd_plot_scale scale;
    /* "LOW:HIGH", both included; either may be left out where the plot does not
     * need it in advance: then the values decide. */
    const char *x_range;
    const char *y_range;
    const char *range; /* of colours */
    uint64_t cells;    /* limit for a row or column; 0: as fits */
    uint64_t pixel;    /* of the screen for a cell, each way; 0: as fits */
    bool bare;         /* draw only the cells */
    bool dark;
    const char *map;   /* a name of pfd_colours_name() */
    const char *title; /* UTF-8; NULL: the format string */
};

/* A form that pictures are drawn in; static storage. */
struct pfd_plot_output {
    const char *name;   /* "png" */
    const char *title;  /* one line */
    const char *suffix; /* of files; NULL: none is usual */
    bool is_text;       /* for terminals */
};

/* Counts of drawn and of skipped data. */
struct pfd_plot_counts {
    uint64_t points;     /* in the plot */
    uint64_t unknown;    /* entries of unknown ids */
    uint64_t others;     /* entries of other format strings than the one */
    uint64_t without;    /* entries that lack one of the columns */
    uint64_t texts;      /* entries with a text in one of them */
    uint64_t nowhere;    /* points with a coordinate that is NaN or infinite */
    uint64_t outside;    /* points outside of the ranges */
    uint64_t unpanelled; /* points of values of `by` beyond the number of
                            panels */
    uint64_t several;    /* cells with more than one value */
    uint64_t nan;        /* cells that are NaN; the next four likewise */
    uint64_t plus_inf;
    uint64_t minus_inf;
    uint64_t empty;
    uint64_t numbers;
    uint64_t not_above_0; /* numbers that have no logarithm */
    int cell_x;           /* a cell is 2 to the power of this wide */
    int cell_y;           /* and 2 to the power of this high */
};

/* The area to draw in. */
struct pfd_plot_screen {
    unsigned columns; /* of a terminal */
    unsigned rows;
    unsigned width; /* of the terminal, pixels; 0: unknown */
    unsigned height;
};

#endif
