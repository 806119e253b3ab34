/* SPDX-License-Identifier: MIT */
/* Buffers in the memory that the command line names. */
#ifndef CLI_ADD_MEMORY_H
#define CLI_ADD_MEMORY_H

#include "input.h"

/*
 * Opens it as inputs->memory, loads its code objects if no strings are given,
 * and adds the buffer: its bytes, or for `follow` its address. Findings go to
 * tell with user. False: an error was printed.
 */
bool memory_add(struct inputs *inputs, const struct options *options,
                pfd_finding_fn tell, void *user);

#endif
