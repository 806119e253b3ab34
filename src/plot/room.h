/* SPDX-License-Identifier: MIT */
/* Room for very many cells. */
#ifndef PFD_ROOM_H
#define PFD_ROOM_H

#include <stddef.h>

/* Most of it will be used, so it may come in large pages: fewer of them are
 * asked for, and a processor knows them all where cells are met in any order.
 * What is small is left as it is, and it does not matter whether a system has
 * large pages. */
void pfd_room_whole(void *room, size_t n_bytes);

#endif
