/* SPDX-License-Identifier: MIT */
/*
 * Who has come to a socket and waits until there is room, a descriptor each.
 * They go in by turns: users (peer_limit.h), of a user its processes, of a process
 * its connections as they came. So whoever comes, and has nothing waiting, goes
 * in after one turn at most of each other one, however many wait. Loop thread
 * only.
 */
#ifndef PFDD_ADMISSION_QUEUE_H
#define PFDD_ADMISSION_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/peer_limit.h"

enum {
    PFDD_ADMISSION_QUEUE_FEW = 16, /* that each process may have waiting */
};

/* Of one user. */
struct pfdd_admission_group;

/* All zero but n_max: nobody waits. */
struct pfdd_admission_queue {
    unsigned n_max; /* places */
    unsigned n;
    struct pfdd_admission_group *parties; /* whose turn comes first is first */
};

/* Bytes that n places take, at most. */
size_t pfdd_admission_queue_memory(unsigned n);

/* False: there is no place, and no process has more than a few: who comes has to
 * wait elsewhere. */
bool pfdd_admission_queue_has_place(
    const struct pfdd_admission_queue *admission_queue);

/*
 * One more of a process, where there was a place. *ret: -1, or the descriptor of
 * who has to leave for it: the last one of a process that has the most waiting,
 * beyond what others have. False: out of memory.
 */
bool pfdd_admission_queue_push(struct pfdd_admission_queue *admission_queue,
                               const struct pfdd_peer_key *user, pid_t process,
                               int fd, int *ret);

/* Whose turn it is, and who waits no more; below 0: nobody waits. */
int pfdd_admission_queue_pop(struct pfdd_admission_queue *admission_queue);

#endif
