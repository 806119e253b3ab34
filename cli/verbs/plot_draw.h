/* SPDX-License-Identifier: MIT */
/* A plot that is being made, of complete or live entries. */
#ifndef CLI_PLOT_DRAW_H
#define CLI_PLOT_DRAW_H

#include "analysis/plot/plot.h"
#include "input/input.h"
#include "show/terminal.h"

struct plot {
    const struct options *o; /* its files are those after the plot's kind */
    uint64_t live;           /* redraws per second at most; 0: draw once */
    enum pfd_plot_kind kind;
    struct pfd_plot_spec spec; /* without strings */
    const char *form;          /* NULL: chosen by the terminal's abilities */
    struct terminal terminal;
    bool any_strings; /* entries may have any set of strings */
    struct pfd_plot *plot;
};

/* Opens the plot for one string, SIZE_MAX if it is unknown. False: not
 * possible; an error was printed. */
bool plot_open(struct plot *p, const struct pfd_strings *strings,
               size_t string);

/* Chooses the best form of the terminal, unless one was given. */
void plot_choose_form(struct plot *p);

/* Draws into a new file. False: an error was printed. */
bool plot_draw_file(const struct plot *p, const char *to);

void plot_tell_counts(const struct plot *p);

#endif
