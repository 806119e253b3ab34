/* SPDX-License-Identifier: MIT */
/* A picture that is being made, of entries that are there or still come. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <printfdecode/plot.h>

#include "input/input.h"
#include "show/terminal.h"

struct plot {
    const struct options *o; /* its files are those behind the picture's kind */
    enum pfd_plot_kind kind;
    const char *form; /* NULL: what the terminal has */
    struct terminal terminal;
    bool any_strings; /* entries are of any set of strings */
    struct pfd_plot *plot;
};

/* Of this one of the strings, SIZE_MAX where none is known. False: it cannot
 * be, which was said. */
bool plot_open(struct plot *p, const struct pfd_strings *strings,
               size_t string);

/* The best form that the terminal has, where none was chosen. */
void plot_choose_form(struct plot *p);

/* Into a new file of this name. False: it was said why not. */
bool plot_draw_file(const struct plot *p, const char *to);

void plot_tell_counts(const struct plot *p);

/* plot --live; the exit status. */
int plot_live(struct plot *p);

#endif
