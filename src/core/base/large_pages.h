/* SPDX-License-Identifier: MIT */
/*
 * Memory for random access or for filling at once, in large pages: they cost
 * fewer TLB misses and page faults than small ones.
 */
#ifndef PFD_LARGE_PAGES_H
#define PFD_LARGE_PAGES_H

#include <stddef.h>

enum {
    PFD_LARGE_PAGE = 2 << 20,
};

/* n bytes, not zeroed; less than a large page comes from malloc(). The caller
 * frees it with free(); NULL when out of memory. */
void *pfd_large_pages_new(size_t n);

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
