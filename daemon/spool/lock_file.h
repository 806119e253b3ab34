/* SPDX-License-Identifier: MIT */
/*
 * The folder of the queue (spool.h) is one daemon's at a time. Any thread.
 */
#ifndef PFDD_LOCK_FILE_H
#define PFDD_LOCK_FILE_H

#include <stddef.h>

/* Makes the folder if need be, and locks it: a descriptor that holds the lock
 * until it is closed; -1: err says why not. */
int pfdd_lock_file(const char *dir, char *err, size_t n_err);

#endif
