/* SPDX-License-Identifier: MIT */
/*
 * Memory for what is looked at all over, or filled at once: in large pages,
 * which the system finds and gives sooner than many small ones.
 */
#ifndef PFD_LARGE_PAGES_H
#define PFD_LARGE_PAGES_H

#include <stddef.h>

enum {
    PFD_LARGE_PAGE = 2 << 20,
};

/* n bytes, not zeroed; fewer than a large page come as malloc() gives them. To
 * be freed with free(); NULL when out of memory. */
void *pfd_large_pages_new(size_t n);

#endif
