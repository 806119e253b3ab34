/* SPDX-License-Identifier: MIT */
/*
 * Whose turn it is: code objects wait in a queue for each producer, and the
 * next one is of the producer that has taken the least time so far. Who comes
 * when others have taken much begins where these are, so that nobody saves up
 * time. Loop thread only.
 */
#ifndef PFDD_FAIR_QUEUE_H
#define PFDD_FAIR_QUEUE_H

#include <stdint.h>

#include "ingest/code_object.h"

/* One queue. All zero: empty. */
struct pfdd_fair_queue_task {
    struct pfdd_fair_queue_task *next; /* of those that have something */
    struct pfdd_code *first;
    struct pfdd_code *last;
    uint64_t spent; /* ns of processor time */
};

/* All zero: nobody waits. */
struct pfdd_fair_queue {
    struct pfdd_fair_queue_task *first;
    uint64_t now; /* what whoever had the last turn had spent before it */
};

void pfdd_fair_queue_put(struct pfdd_fair_queue *fair_queue,
                         struct pfdd_fair_queue_task *fair_queue_task,
                         struct pfdd_code *o);

/* NULL: nobody waits. What it will cost is guessed, and charged. */
struct pfdd_code *pfdd_fair_queue_take(struct pfdd_fair_queue *fair_queue);

/* A list of those for which there was no time, in their order: they are the
 * first again, and cost nothing yet. */
void pfdd_fair_queue_give_back(struct pfdd_fair_queue *fair_queue,
                               struct pfdd_code *list);

/* What one has cost. */
void pfdd_fair_queue_charge(const struct pfdd_code *o);

/* All that waits in a queue, which is empty then. */
struct pfdd_code *pfdd_fair_queue_clear(
    struct pfdd_fair_queue *fair_queue,
    struct pfdd_fair_queue_task *fair_queue_task);

#endif
