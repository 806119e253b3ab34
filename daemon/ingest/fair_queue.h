/* SPDX-License-Identifier: MIT */
/*
 * Fair scheduling of code objects: each producer has a task with a queue. The
 * next code object is from the task that has used the least processor time so
 * far. A task that joins begins where the others are, so that no producer saves
 * up time. Loop thread only.
 */
#ifndef PFDD_FAIR_QUEUE_H
#define PFDD_FAIR_QUEUE_H

#include <stdint.h>

#include "ingest/code_object.h"

/* One queue. All zeros: empty. */
struct pfdd_fair_queue_task {
    struct pfdd_fair_queue_task *next; /* in the list of tasks with queued
                                          objects */
    struct pfdd_code *first;
    struct pfdd_code *last;
    uint64_t spent; /* ns of processor time */
};

/* All zeros: no task is queued. */
struct pfdd_fair_queue {
    struct pfdd_fair_queue_task *first;
    uint64_t now; /* `spent` of the last task taken, before its turn */
};

void pfdd_fair_queue_put(struct pfdd_fair_queue *fair_queue,
                         struct pfdd_fair_queue_task *fair_queue_task,
                         struct pfdd_code *o);

/* Dequeues the next object, and charges an estimate of its cost. NULL: none is
 * queued. */
struct pfdd_code *pfdd_fair_queue_take(struct pfdd_fair_queue *fair_queue);

/* Puts back a list of objects for which there was no time, in their order, in
 * front of their queues; takes back the estimates. */
void pfdd_fair_queue_give_back(struct pfdd_fair_queue *fair_queue,
                               struct pfdd_code *list);

/* Charges the actual cost instead of the estimate. */
void pfdd_fair_queue_charge(const struct pfdd_code *o);

/* Removes all objects from a task's queue, and returns them as a list. */
struct pfdd_code *pfdd_fair_queue_clear(
    struct pfdd_fair_queue *fair_queue,
    struct pfdd_fair_queue_task *fair_queue_task);

#endif
