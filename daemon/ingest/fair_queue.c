/* SPDX-License-Identifier: MIT */
#include "ingest/fair_queue.h"

#include <stddef.h>

enum {
    GUESS_NS = 20000, /* of one, and for each byte beside that */
};

static uint64_t guess(const struct pfdd_code *o)
{
    return GUESS_NS + o->n;
}

static void join(struct pfdd_turns *turns, struct pfdd_turn *turn)
{
    turn->spent = turn->spent > turns->now ? turn->spent : turns->now;
    turn->next = turns->first;
    turns->first = turn;
}

static void leave(struct pfdd_turns *turns, struct pfdd_turn *turn)
{
    struct pfdd_turn **at = &turns->first;
    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
}

void pfdd_turns_put(struct pfdd_turns *turns, struct pfdd_turn *turn,
                    struct pfdd_code *o)
{
    o->next = NULL;
    o->turn = turn;
    if (turn->first) {
        turn->last->next = o;
    } else {
        turn->first = o;
        join(turns, turn);
    }
    turn->last = o;
}

struct pfdd_code *pfdd_turns_take(struct pfdd_turns *turns)
{
    struct pfdd_turn *least = turns->first;
    for (struct pfdd_turn *t = least; t; t = t->next)
        least = t->spent < least->spent ? t : least;
    if (!least)
        return NULL;
    struct pfdd_code *o = least->first;
    turns->now = least->spent;
    least->spent += guess(o);
    least->first = o->next;
    if (!least->first)
        leave(turns, least);
    o->next = NULL;
    return o;
}

static void give_back(struct pfdd_turns *turns, struct pfdd_code *o)
{
    struct pfdd_turn *turn = o->turn;
    turn->spent -= guess(o) < turn->spent ? guess(o) : turn->spent;
    if (!turn->first) {
        turn->last = o;
        turn->next = turns->first;
        turns->first = turn;
    }
    o->next = turn->first;
    turn->first = o;
}

void pfdd_turns_give_back(struct pfdd_turns *turns, struct pfdd_code *list)
{
    struct pfdd_code *last = NULL;
    struct pfdd_code *next = NULL;
    for (struct pfdd_code *o = list; o; o = next) {
        next = o->next;
        o->next = last;
        last = o;
    }
    for (; last; last = next) {
        next = last->next;
        give_back(turns, last);
    }
}

void pfdd_turns_charge(const struct pfdd_code *o)
{
    struct pfdd_turn *turn = o->turn;
    turn->spent += o->spent;
    turn->spent -= guess(o) < turn->spent ? guess(o) : turn->spent;
}

struct pfdd_code *pfdd_turns_clear(struct pfdd_turns *turns,
                                   struct pfdd_turn *turn)
{
    struct pfdd_code *all = turn->first;
    if (all)
        leave(turns, turn);
    turn->first = turn->last = NULL;
    return all;
}
