/* SPDX-License-Identifier: MIT */
/*
 * File descriptors, of which there are so many for all: what peers make us have
 * never comes to the last eighth of them, which is for the daemon's own files.
 * The kernel gives the lowest number that is free, so a descriptor's number says
 * how many there are at least. Loop thread only.
 */
#ifndef PFDD_DESCRIPTOR_LIMIT_H
#define PFDD_DESCRIPTOR_LIMIT_H

#include <stdbool.h>

/* As many as this process may have, up to some ten thousands. */
void pfdd_descriptor_limit_raise(void);

/* Of one that a peer has made us have just now: false: it should be closed. */
bool pfdd_descriptor_limit_is_spare(int fd);

/* Of those, for peers who wait at a socket until there is room. */
unsigned pfdd_descriptor_limit_for_waiting(void);

/* What one peer may make us have of them. */
unsigned pfdd_descriptor_limit_share(void);

#endif
