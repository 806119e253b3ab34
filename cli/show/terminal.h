/* SPDX-License-Identifier: MIT */
/* What the terminal at standard output can show. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <printfdecode/plot.h>

struct terminal {
    struct pfd_plot_screen screen;
    bool has_kitty; /* it said that it knows these: */
    bool has_sixel;
};

/* Its size. False: standard output is no terminal. */
bool terminal_measure(struct terminal *ret);

/* Asks it what it has, and waits for the answer a second at the most. Nothing
 * is set where it does not answer, or cannot be asked. */
void terminal_ask(struct terminal *terminal);

/* Terminals that show the sequence of a link instead of obeying it say what
 * they are. */
bool terminal_can_link(void);

/* file:// and the host and the working folder, static; NULL: there is none. */
const char *terminal_folder_url(void);

#endif
