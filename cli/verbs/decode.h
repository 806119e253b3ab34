/* SPDX-License-Identifier: MIT */
/* What `decode` does, for verbs whose buffers turn out to be complete. */
#ifndef CLI_DECODE_H
#define CLI_DECODE_H

#include "input/filter.h"
#include "input/input.h"

/* The verb `decode` on inputs that are open. Closes the filtering. Returns the
 * exit status. */
int decode_inputs(const struct options *options, struct inputs *inputs,
                  struct filtering *filtering);

#endif
