/* SPDX-License-Identifier: MIT */
/*
 * Shares the loop's time among tasks that could send without end. A task has a
 * turn of a millisecond and continues in a later one. Of several waiting tasks,
 * the one that has used the least time comes next. After some milliseconds all
 * tasks pause for the loop's other work. Loop thread only.
 */
#ifndef PFDD_LOOP_SCHEDULER_H
#define PFDD_LOOP_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/fair_queue.h"

/* Part of its owner's struct. Zeroed, then `turn` is set. */
struct pfdd_loop_task {
    struct pfdd_fair_task task; /* queued while it waits; charged ns */
    /* Called when a waiting task has its turn: pfdd_loop_scheduler_begin() will
     * return true. May free the task. */
    void (*turn)(struct pfdd_loop_task *task);
};

/* All zero: not open, and tasks never wait. */
struct pfdd_loop_scheduler {
    uv_check_t check; /* runs after the loop has polled */
    uv_idle_t idle;   /* keeps the loop from blocking while a task waits */
    bool is_open;
    struct pfdd_fair_queue waiting;
    struct pfdd_loop_task *next; /* whose turn() is being called */
    uint64_t began;              /* of the turn; 0: there is none */
    uint64_t left;               /* ns, of this loop iteration */
};

void pfdd_loop_scheduler_open(struct pfdd_loop_scheduler *scheduler,
                              uv_loop_t *loop);
/* Closes its two handles. No task waits any more. */
void pfdd_loop_scheduler_close(struct pfdd_loop_scheduler *scheduler);

/* False: other tasks come first, and turn() will be called. */
bool pfdd_loop_scheduler_begin(struct pfdd_loop_scheduler *scheduler,
                               struct pfdd_loop_task *task);
/* True: the turn has been long enough. */
bool pfdd_loop_scheduler_is_over(const struct pfdd_loop_scheduler *scheduler);
/* more: the task is not done, and turn() will be called. */
void pfdd_loop_scheduler_end(struct pfdd_loop_scheduler *scheduler,
                             struct pfdd_loop_task *s, bool more);

/* The task wants no turn any more. */
void pfdd_loop_scheduler_leave(struct pfdd_loop_scheduler *scheduler,
                               struct pfdd_loop_task *s);

#endif
