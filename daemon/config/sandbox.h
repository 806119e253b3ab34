/* SPDX-License-Identifier: MIT */
/*
 * Limits this process to the files and system calls that the configuration
 * needs: landlock for files, seccomp for system calls, each if the kernel has
 * it. A configuration that is loaded later cannot get more than the first one.
 */
#ifndef PFDD_SANDBOX_H
#define PFDD_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

/*
 * Denies access to all files except below the folders of the configuration, and
 * the files of libraries. Call before threads exist. path: the configuration's
 * file, or NULL.
 */
void pfdd_sandbox_files(const struct pfdd_config *config, const char *path);

/* True: access to files is limited. */
bool pfdd_sandbox_has_files(void);

/* Makes the creation of io_uring rings fail with ENOSYS. Call before the loop
 * exists: libuv from 1.45 on creates a ring with the loop. It does without if
 * that fails, but aborts if a ring cannot be used later. Rings stay denied,
 * because calls through a ring bypass every filter. False: not supported by the
 * kernel or this build. */
bool pfdd_sandbox_rings(void);

/* Denies all system calls that the daemon does not need, for all threads.
 * False: not supported by the kernel or this build. */
bool pfdd_sandbox_calls(void);

/* Logs which limits are active. */
void pfdd_sandbox_log(void);

/* True: access to all files of the configuration is granted; else err [n] names
 * one that is denied. */
bool pfdd_sandbox_covers(const struct pfdd_config *config, char *err, size_t n);

#endif
