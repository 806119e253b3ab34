/* SPDX-License-Identifier: MIT */
/* The memory that the command line names, and the buffer in it. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include "input.h"

/* Opens it as inputs->memory, and as inputs->core when it is a core. Findings
 * go to tell with user. False: an error was printed. */
bool memory_open(struct inputs *inputs, const struct options *options,
                 pfd_finding_fn tell, void *user);
void memory_close(struct inputs *inputs);

/*
 * Opens it as inputs->memory, loads its code objects if no strings are given,
 * and adds the buffer: its bytes, or for `follow` its address. Findings go to
 * tell with user. False: an error was printed.
 */
bool memory_add(struct inputs *inputs, const struct options *options,
                pfd_finding_fn tell, void *user);

#endif
