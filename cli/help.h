/* SPDX-License-Identifier: MIT */
/*
 * What is said about verbs and options: --help, and what may have been meant
 * where there is none of the name.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "options.h"

struct option_row {
    const char *name;
    int key;
    const char *argument; /* NULL: takes none; "": only behind a = */
    unsigned verbs;       /* bits, by the number of each verb */
    const char *help;
};

/* All of them, borrowed. */
struct option_table {
    const struct verb *verbs; /* [n_verbs] */
    size_t n_verbs;
    const struct option_row *rows; /* [n_rows] */
    size_t n_rows;
};

/* Prints the help of a verb; NULL: of all. */
void help_print(const struct option_table *table, const struct verb *verb);

/* Prints the version, and what the command is built with and without. */
void help_version(void);

/* The verb has no option of this name, given without its dashes. */
void help_near_options(const struct option_table *t, const struct verb *of,
                       const char *given);

/* A word that is no file: a verb behind an option, or one mistyped? */
void help_near_verbs(const struct option_table *table, const char *word);

#endif
