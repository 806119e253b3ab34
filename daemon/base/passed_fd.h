/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that a peer has passed. They may be anything: files of a FUSE
 * server that never answers, sockets that linger. Before a descriptor is known
 * to be memory or an eventfd, the loop does nothing with it that could block.
 */
#ifndef PFDD_PASSED_FD_H
#define PFDD_PASSED_FD_H

#include <stdbool.h>
#include <stdint.h>

/* True: it is memory of at least that size, which cannot shrink. */
bool pfdd_passed_fd_is_memory(int fd, uint64_t size);

bool pfdd_passed_fd_is_eventfd(int fd);

/* Takes the count of an eventfd without blocking, whatever its flags, which the
 * peer shares. 0: it was rung; EAGAIN: not; else another errno value. */
int pfdd_passed_fd_take(int fd);

/* Closes it, without waiting for completion. */
void pfdd_passed_fd_close(int fd);

#endif
