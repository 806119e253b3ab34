/* SPDX-License-Identifier: MIT */
/* The words of the program that `run` starts. */
#ifndef CLI_RUN_COMMAND_H
#define CLI_RUN_COMMAND_H

#include "options/options.h"
#include "run_shader.h"

/* The command of the operands' program; where they name a shader and [shader] is
 * not NULL, that of a runner. Up to NULL; the caller frees it. NULL: it cannot be
 * run; an error was printed. */
char **run_command_new(const struct options *o,
                       const struct shader_run *shader);

/* NULL is allowed. */
void run_command_free(char **command);

/* The file that a runner of the package is told to write its buffer to, one of the
 * words; NULL: none, or no command. */
const char *run_command_dump(char *const *command);

#endif
