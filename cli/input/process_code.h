/* SPDX-License-Identifier: MIT */
/*
 * The code objects that the program of a memory has loaded: as strings, and as
 * a list.
 */
#ifndef CLI_PROCESS_CODE_H
#define CLI_PROCESS_CODE_H

#include <printfdecode/process_code.h>

#include "input.h"

/* Loads the format strings of inputs->memory: of what the runtime has loaded
 * and, with --scan, of what stands anywhere. Findings go to tell with user.
 * False: said. */
bool process_code_add(struct inputs *inputs, const struct options *options,
                      pfd_finding_fn tell, void *user);

/* Loads what the runtime has loaded since. False: there was nothing new. */
bool process_code_renew(struct inputs *inputs, pfd_finding_fn tell, void *user);

/* Calls fn for each code object of inputs->memory; its findings were said.
 * False: said. */
bool process_code_again(const struct inputs *inputs,
                        const struct options *options, pfd_process_code_fn fn,
                        void *user);

/* Calls fn for each code object of the memory that the options name. Findings
 * go to tell with tell_user. False: said. */
bool process_code_each(const struct options *options, pfd_process_code_fn fn,
                       void *user, pfd_finding_fn tell, void *tell_user);

/* --code-objects: lists them. The exit status. */
int process_code_run(const struct options *options);

#endif
