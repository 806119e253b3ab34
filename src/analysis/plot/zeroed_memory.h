/* SPDX-License-Identifier: MIT */
/* Room for very many cells. */
#ifndef PFD_ZEROED_MEMORY_H
#define PFD_ZEROED_MEMORY_H

#include <stddef.h>

/* [n_bytes] of zeros, which take no memory before they are used; NULL: there
 * is none. Owned by the caller, who knows how large it is. */
void *pfd_zeroed_new(size_t n_bytes);
void pfd_zeroed_free(void *room, size_t n_bytes);

/* More of it, zeros behind what was there, which is not copied where it is
 * large. NULL: there is none, and it is as it was. */
void *pfd_zeroed_grow(void *room, size_t was, size_t n_bytes);

/* Most of it will be used, so it may come in large pages: fewer of them are
 * asked for, and a processor knows them all where cells are met in any order.
 * What is small is left as it is, and it does not matter whether a system has
 * large pages. */
void pfd_zeroed_whole(void *room, size_t n_bytes);

#endif
