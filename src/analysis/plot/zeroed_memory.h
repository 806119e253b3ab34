/* SPDX-License-Identifier: MIT */
/* Memory for very many cells. */
#ifndef PFD_ZEROED_MEMORY_H
#define PFD_ZEROED_MEMORY_H

#include <stddef.h>

/* [n_bytes] of zeros, which take no memory before they are used; NULL: out of
 * memory. The caller owns it, and keeps its size. */
void *pfd_zeroed_new(size_t n_bytes);
void pfd_zeroed_free(void *room, size_t n_bytes);

/* Adds zeros behind the bytes; a large block is moved without a copy. NULL: out
 * of memory, and the block is unchanged. */
void *pfd_zeroed_grow(void *room, size_t was, size_t n_bytes);

/* Most of the block will be used, so the system may use large pages: that takes
 * fewer page faults and fewer TLB entries for random access. Has no effect on a
 * small block, or on a system without large pages. */
void pfd_zeroed_whole(void *room, size_t n_bytes);

#endif
