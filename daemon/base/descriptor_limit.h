/* SPDX-License-Identifier: MIT */
/*
 * Limits the file descriptors that peers cause. The last eighth of all, 128 at
 * most, is left for the daemon's own files. The kernel gives the lowest free
 * number, so a descriptor's number tells how many there are at least. Loop
 * thread only.
 */
#ifndef PFDD_DESCRIPTOR_LIMIT_H
#define PFDD_DESCRIPTOR_LIMIT_H

#include <stdbool.h>

/* Raises the process's limit as far as allowed, to 65536 at most. */
void pfdd_descriptor_limit_raise(void);

/* fd: caused by a peer just now. False: it should be closed. */
bool pfdd_descriptor_limit_is_spare(int fd);

/* Descriptors of peers for connections that wait for admission. */
unsigned pfdd_descriptor_limit_for_waiting(void);

/* Descriptors that one peer may cause. */
unsigned pfdd_descriptor_limit_share(void);

#endif
