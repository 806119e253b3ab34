/* SPDX-License-Identifier: MIT */
/* Structs of callers that begin with their size (printfdecode/common.h). */
#ifndef PFD_SIZED_H
#define PFD_SIZED_H

#include <printfdecode/common.h>

/*
 * Copies the caller's struct `from`, as large as it says, to the library's own
 * `to`, [n] bytes; members that the caller's lacks become zero.
 *
 * PFD_OK; PFD_ERR_USAGE: it has members that the library does not know.
 */
enum pfd_status pfd_sized_take(void *to, size_t n, const void *from,
                               struct pfd_error *err);

/*
 * Copies the library's struct `from`, [n] bytes, into the caller's `to`, as far
 * as that has members; what the library lacks becomes zero. The caller's
 * struct_size stays.
 *
 * PFD_OK; PFD_ERR_USAGE: its struct_size has no room for itself.
 */
enum pfd_status pfd_sized_give(void *to, const void *from, size_t n,
                               struct pfd_error *err);

#endif
