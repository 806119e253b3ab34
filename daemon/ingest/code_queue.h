/* SPDX-License-Identifier: MIT */
/*
 * Incoming code objects of a producer, a task of the fair queue of all. Tasks
 * are charged the processor time, in ns, that their code objects take. Loop
 * thread only.
 */
#ifndef PFDD_CODE_QUEUE_H
#define PFDD_CODE_QUEUE_H

#include "base/fair_queue.h"

struct pfdd_code;

/* All zero: empty. */
struct pfdd_code_queue {
    struct pfdd_fair_task task; /* queued while there are code objects */
    struct pfdd_code *first;
    struct pfdd_code *last;
};

void pfdd_code_queue_put(struct pfdd_fair_queue *all,
                         struct pfdd_code_queue *code_queue,
                         struct pfdd_code *o);

/* Dequeues the next object of all, and charges an estimate of its cost. NULL:
 * none is queued. */
struct pfdd_code *pfdd_code_queue_take(struct pfdd_fair_queue *all);

/* Puts back a list of objects for which there was no time, in their order, in
 * front of their queues; takes back the estimates. */
void pfdd_code_queue_give_back(struct pfdd_fair_queue *all,
                               struct pfdd_code *list);

/* Charges the actual cost instead of the estimate. */
void pfdd_code_queue_charge(const struct pfdd_code *o);

/* Removes all objects from a queue, and returns them as a list. */
struct pfdd_code *pfdd_code_queue_clear(struct pfdd_fair_queue *all,
                                        struct pfdd_code_queue *code_queue);

#endif
