/* SPDX-License-Identifier: MIT */
/* The core that the command line names. */
#ifndef CLI_CORE_H
#define CLI_CORE_H

#include <printfdecode/core.h>

#include "input.h"

struct core;

/* Opens it as inputs->core and inputs->memory. False: said. */
bool core_open(struct inputs *inputs, const struct options *options,
               pfd_finding_fn tell, void *user);
/* NULL is allowed. */
void core_close(struct core *core);

/* The bytes of a range where they stand in the file; NULL: not in one piece. */
const void *core_bytes(const struct core *core, uint64_t address, uint64_t n);

const struct pfd_core *core_file(const struct core *core);

#endif
