/* SPDX-License-Identifier: MIT */
/*
 * Ensures that only one daemon uses a spool's folder (spool.h). Any thread.
 */
#ifndef PFDD_LOCK_FILE_H
#define PFDD_LOCK_FILE_H

#include <stddef.h>

/* Makes the folder if it is missing, and locks it. Returns a descriptor that
 * holds the lock until it is closed; -1: err [n_err] says why. */
int pfdd_lock_file(const char *dir, char *err, size_t n_err);

#endif
