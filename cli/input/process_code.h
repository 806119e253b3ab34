/* SPDX-License-Identifier: MIT */
/*
 * The code objects that a process has loaded: as a source of strings, and as a
 * list.
 */
#ifndef CLI_PROCESS_CODE_H
#define CLI_PROCESS_CODE_H

#include "input.h"
#include "memory/space/process_code.h"

/* Loads the format strings of inputs->memory: of objects that the runtime has
 * loaded and, with --scan, of objects found anywhere in memory. Findings go to
 * tell with user. False: an error was printed. */
bool process_code_add(struct inputs *inputs, const struct options *options,
                      pfd_finding_fn tell, void *user);

/* Loads objects that the runtime has loaded since. False: there were none. */
bool process_code_renew(struct inputs *inputs, pfd_finding_fn tell, void *user);

/* Calls fn for each code object of inputs->memory, without repeating its
 * findings. False: an error was printed. */
bool process_code_again(const struct inputs *inputs,
                        const struct options *options, pfd_process_code_fn fn,
                        void *user);

/* Calls fn for each code object of the memory that the options name. Findings
 * go to tell with tell_user. False: an error was printed. */
bool process_code_each(const struct options *options, pfd_process_code_fn fn,
                       void *user, pfd_finding_fn tell, void *tell_user);

/* --code-objects: lists them. Returns the exit status. */
int process_code_run(const struct options *options);

#endif
