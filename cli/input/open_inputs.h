/* SPDX-License-Identifier: MIT */
/*
 * Opens the files and the memory of a command line: detects their roles, loads
 * strings, adds buffers.
 */
#ifndef CLI_OPEN_INPUTS_H
#define CLI_OPEN_INPUTS_H

#include "input.h"

/*
 * Opens all files and loads the strings. Findings go to tell (a pfd_finding_fn)
 * with user, notes only with --verbose. Stops at the first unreadable file,
 * with no buffers, unless --keep-going is given.
 */
void inputs_open(struct inputs *ret, const struct options *options,
                 pfd_finding_fn tell, void *user);
void inputs_close(struct inputs *inputs);

#endif
