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

#endif
