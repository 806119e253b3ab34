/* SPDX-License-Identifier: MIT */
/* The core file that the command line names. */
#ifndef CLI_CORE_H
#define CLI_CORE_H

#include <printfdecode/core.h>

#include "input.h"

struct core;

/* Opens it as inputs->core and inputs->memory. False: an error was printed. */
bool core_open(struct inputs *inputs, const struct options *options,
               pfd_finding_fn tell, void *user);
/* NULL is allowed. */
void core_close(struct core *core);

/* The bytes of a range, as a pointer into the file; NULL: the range is not
 * contiguous in it. */
const void *core_bytes(const struct core *core, uint64_t address, uint64_t n);

const struct pfd_core *core_file(const struct core *core);

#endif
