/* SPDX-License-Identifier: MIT */
/* Abilities of the terminal at standard output. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "analysis/plot/plot.h"

struct terminal {
    struct pfd_plot_screen screen;
    bool has_kitty; /* its answer says that it supports: */
    bool has_sixel;
};

/* Gets its size. False: standard output is no terminal. */
bool terminal_measure(struct terminal *ret);

/* Queries its abilities; waits at most a second for the answer. Sets nothing if
 * it does not answer, or cannot be queried. */
void terminal_ask(struct terminal *terminal);

/* Does the terminal support hyperlinks? Decided from the environment, as other
 * terminals would print the escape sequence. */
bool terminal_can_link(void);

/* "file://", host name and working directory, static; NULL: unknown. */
const char *terminal_folder_url(void);

#endif
