/* SPDX-License-Identifier: MIT */
/*
 * Copies memory that the processor does not cache, such as a device's own:
 * single loads from it are a hundred times slower than loads that fetch a whole
 * line.
 */
#ifndef PFD_UNCACHED_COPY_H
#define PFD_UNCACHED_COPY_H

#include <stddef.h>

/* Copies bytes [n], of any alignment. No byte outside of them is read. What a
 * device wrote before the call is seen. */
void pfd_uncached_copy(void *to, const void *from, size_t n);

#endif
