/* SPDX-License-Identifier: MIT */
/*
 * Time on the loop, for those who send without end: each has a turn of a
 * millisecond, and goes on in a later one. When several wait, the next turn is
 * of who has had the least time so far; all of them together leave the loop to
 * others after some milliseconds. Loop thread only.
 */
#ifndef PFDD_LOOP_SCHEDULER_H
#define PFDD_LOOP_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

/* In a structure of whoever wants turns. Zeroed, then `turn` is set. */
struct pfdd_loop_task {
    struct pfdd_loop_task *next;
    /* It waited, and has its turn: pfdd_loop_scheduler_begin() will not say no. May free
     * the seat. */
    void (*turn)(struct pfdd_loop_task *task);
    bool waits;
    uint64_t spent; /* ns */
};

/* All zero: not open, and nobody ever waits. */
struct pfdd_loop_scheduler {
    uv_check_t check; /* behind what the loop has waited for */
    uv_idle_t idle;   /* it does not wait while somebody wants a turn */
    bool is_open;
    struct pfdd_loop_task *first; /* of those that wait */
    struct pfdd_loop_task *next;  /* who is called */
    uint64_t now;                 /* what that one had spent */
    uint64_t began;               /* of the turn; 0: there is none */
    uint64_t left;                /* ns, of this time around the loop */
};

void pfdd_loop_scheduler_open(struct pfdd_loop_scheduler *scheduler,
                              uv_loop_t *loop);
/* Two handles are closed, which call closed, with user as their data; nobody
 * waits any more. */
void pfdd_loop_scheduler_close(struct pfdd_loop_scheduler *scheduler,
                               uv_close_cb closed, void *user);

/* False: others come first, and turn() will be called. */
bool pfdd_loop_scheduler_begin(struct pfdd_loop_scheduler *scheduler,
                               struct pfdd_loop_task *task);
/* True: the turn has been long enough. */
bool pfdd_loop_scheduler_is_over(const struct pfdd_loop_scheduler *scheduler);
/* more: there is more to be done, turn() will be called. */
void pfdd_loop_scheduler_end(struct pfdd_loop_scheduler *scheduler,
                             struct pfdd_loop_task *task, bool more);

/* It wants none any more. */
void pfdd_loop_scheduler_leave(struct pfdd_loop_scheduler *scheduler,
                               struct pfdd_loop_task *task);

#endif
