/* SPDX-License-Identifier: MIT */
/*
 * Accepted connections that wait for admission, a descriptor each. Admission is
 * by turns: of users (peer_limit.h), of a user's processes, and of a process's
 * connections in order of arrival. So the first connection of a process waits
 * for at most one turn of each other one, however many connections wait. Loop
 * thread only.
 */
#ifndef PFDD_ADMISSION_QUEUE_H
#define PFDD_ADMISSION_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fair_queue.h"
#include "base/peer_limit.h"

enum {
    PFDD_ADMISSION_QUEUE_FEW = 16, /* connections of a process that are never
                                      evicted */
};

/* All zero but n_max: empty. */
struct pfdd_admission_queue {
    unsigned n_max; /* places */
    unsigned n;
    struct pfdd_fair_queue users;
};

/* Bytes that n places take, at most. */
size_t pfdd_admission_queue_memory(unsigned n);

/* False: all places are taken and no process has more than a few connections.
 * New connections have to wait elsewhere. */
bool pfdd_admission_queue_has_place(
    const struct pfdd_admission_queue *admission_queue);

/*
 * Adds a connection of a process; there has to be a place. *ret: -1, or the
 * descriptor that is evicted for it: the newest one of the process that has the
 * most, if that is more than a few. False: out of memory.
 */
bool pfdd_admission_queue_push(struct pfdd_admission_queue *admission_queue,
                               const struct pfdd_peer_key *user, pid_t process,
                               int fd, int *ret);

/* Removes the next connection and returns its descriptor; below 0: none
 * waits. */
int pfdd_admission_queue_pop(struct pfdd_admission_queue *admission_queue);

#endif
