/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that a peer passed. They may be anything: files of a FUSE server
 * that never answers, sockets that linger. Nothing is done with one on the loop
 * that could wait for somebody before it is known to be memory or an eventfd.
 */
#ifndef PFDD_PASSED_FD_H
#define PFDD_PASSED_FD_H

#include <stdbool.h>
#include <stdint.h>

/* Memory of that size at least, which nobody can cut. */
bool pfdd_passed_fd_is_memory(int fd, uint64_t size);

bool pfdd_passed_fd_is_eventfd(int fd);

/* Takes the count of an eventfd, whatever its flags are by now: they are shared
 * with the peer. 0: it was rung; EAGAIN: not; else another errno value. */
int pfdd_passed_fd_take(int fd);

/* Closes it, without waiting for that. */
void pfdd_passed_fd_close(int fd);

#endif
