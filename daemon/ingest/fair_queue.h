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
struct pfdd_turn {
    struct pfdd_turn *next; /* of those that have something */
    struct pfdd_code *first;
    struct pfdd_code *last;
    uint64_t spent; /* ns of processor time */
};

/* All zero: nobody waits. */
struct pfdd_turns {
    struct pfdd_turn *first;
    uint64_t now; /* what whoever had the last turn had spent before it */
};

void pfdd_turns_put(struct pfdd_turns *turns, struct pfdd_turn *turn,
                    struct pfdd_code *o);

/* NULL: nobody waits. What it will cost is guessed, and charged. */
struct pfdd_code *pfdd_turns_take(struct pfdd_turns *turns);

/* A list of those for which there was no time, in their order: they are the
 * first again, and cost nothing yet. */
void pfdd_turns_give_back(struct pfdd_turns *turns, struct pfdd_code *list);

/* What one has cost. */
void pfdd_turns_charge(const struct pfdd_code *o);

/* All that waits in a queue, which is empty then. */
struct pfdd_code *pfdd_turns_clear(struct pfdd_turns *turns,
                                   struct pfdd_turn *turn);

#endif
