/* SPDX-License-Identifier: MIT */
/* The memory that the command line names, and a buffer in it. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include "input.h"

/*
 * Opens it as inputs->memory and adds the buffer: its bytes, or for `follow`
 * where it is. Findings go to tell with user. False: said.
 */
bool memory_add(struct inputs *inputs, const struct options *options,
                pfd_finding_fn tell, void *user);

#endif
