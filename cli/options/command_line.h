/* SPDX-License-Identifier: MIT */
/* Reads the command line. */
#ifndef CLI_COMMAND_LINE_H
#define CLI_COMMAND_LINE_H

#include "options.h"

/*
 * Parses the command line into the verb's struct; options_free() frees it. NULL:
 * *status is the exit status; either nothing is left to do (--help), or the
 * command line is wrong and an error was printed.
 */
struct options *command_line_read(const struct verbs *verbs, int argc,
                                  char **argv, int *status);

#endif
