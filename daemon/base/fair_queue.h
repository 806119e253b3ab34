/* SPDX-License-Identifier: MIT */
/*
 * A queue of tasks. The next one is the task that has been charged the least;
 * of equals, the one that was put first, so that tasks that are charged nothing
 * take turns. One thread at a time.
 */
#ifndef PFDD_FAIR_QUEUE_H
#define PFDD_FAIR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* First in its owner's struct. All zero: not queued. */
struct pfdd_fair_task {
    struct pfdd_fair_task *next;
    uint64_t charged; /* by its owner, in the owner's unit */
    bool is_queued;
};

/* All zero: empty. */
struct pfdd_fair_queue {
    struct pfdd_fair_task *first; /* in the order of put */
    struct pfdd_fair_task **end;
    uint64_t now; /* `charged` of the last task taken, as it was taken */
};

/* Before an idle task is put or charged: it begins where the others are, so
 * that no task saves anything up. */
void pfdd_fair_queue_catch_up(const struct pfdd_fair_queue *fair_queue,
                              struct pfdd_fair_task *task);

/* Does nothing where the task is queued. */
void pfdd_fair_queue_put(struct pfdd_fair_queue *fair_queue,
                         struct pfdd_fair_task *task);

/* Removes the next task. NULL: none is queued. */
struct pfdd_fair_task *pfdd_fair_queue_take(struct pfdd_fair_queue *fair_queue);

/* Removes a task, if it is queued. */
void pfdd_fair_queue_leave(struct pfdd_fair_queue *fair_queue,
                           struct pfdd_fair_task *task);

#endif
