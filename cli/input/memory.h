/* SPDX-License-Identifier: MIT */
/* The memory that the command line names, and a buffer in it. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include "input.h"

/* Opens it as inputs->memory, and inputs->core when it is one. Findings go to
 * tell with user. False: said. */
bool memory_open(struct inputs *inputs, const struct options *options,
                 pfd_finding_fn tell, void *user);
void memory_close(struct inputs *inputs);

/*
 * Opens it as inputs->memory, loads its code objects where no strings are given,
 * and adds the buffer: its bytes, or for `follow` where it is. Findings go to tell with user. False: said.
 */
bool memory_add(struct inputs *inputs, const struct options *options,
                pfd_finding_fn tell, void *user);

#endif
