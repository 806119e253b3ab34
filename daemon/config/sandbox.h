/* SPDX-License-Identifier: MIT */
/*
 * What the kernel lets this process do, as little as the configuration wants:
 * landlock for files, seccomp for system calls, each where it is there. A
 * configuration that is read later can have no more than the first one.
 */
#ifndef PFDD_SANDBOX_H
#define PFDD_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

/*
 * Closes all files but those below the folders that the configuration names
 * (and what libraries read). Before there are threads. path: of the
 * configuration's file, or NULL.
 */
void pfdd_sandbox_files(const struct pfdd_config *config, const char *path);

/* True: it did so. */
bool pfdd_sandbox_has_files(void);

/* Refuses the making of io_uring's rings with ENOSYS. Before the loop is made:
 * libuv from 1.45 on makes a ring with it, aborts where that may not be used
 * later, and does without where there is none. Rings stay refused: what is done
 * through one passes every filter. False: the kernel, or this build, cannot. */
bool pfdd_sandbox_rings(void);

/* Closes all system calls but those that are needed, for all threads. False:
 * the kernel, or this build, cannot. */
bool pfdd_sandbox_calls(void);

/* Says in the log what is in force. */
void pfdd_sandbox_tell(void);

/* True: all files of the configuration may be used; else err [n] names one
 * that may not. */
bool pfdd_sandbox_covers(const struct pfdd_config *config, char *err, size_t n);

#endif
