/* SPDX-License-Identifier: MIT */
/* The memory that the command line names: of a process, or of a core file. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include "input.h"
#include "memory/space/core.h"

struct core;

/* Opens it as inputs->memory, and as inputs->core when it is a core. Findings
 * go to tell with user. False: an error was printed. */
bool memory_open(struct inputs *inputs, const struct options *options,
                 pfd_finding_fn tell, void *user);
void memory_close(struct inputs *inputs);

/* The bytes of a range, as a pointer into the file; NULL: the range is not
 * contiguous in it. */
const void *core_bytes(const struct core *core, uint64_t address, uint64_t n);

const struct pfd_core *core_file(const struct core *core);

#endif
