/* SPDX-License-Identifier: MIT */
/*
 * Help about verbs and options: --help, and suggestions for a name that does
 * not exist.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "options.h"

/* Prints the help of one verb; NULL: of all verbs. */
void help_print(const struct verbs *verbs, const struct verb *verb);

/* Prints the version, and the libraries that the command is built with and
 * without. */
void help_version(void);

/* Prints that the verb has no option of this name (given without its dashes),
 * and the names that may be meant. */
void help_near_options(const struct verbs *verbs, const struct verb *of,
                       const char *given);

/* For a word that is no file: prints a hint when it is a verb behind an option,
 * or a mistyped verb. */
void help_near_verbs(const struct verbs *verbs, const char *word);

#endif
