/* SPDX-License-Identifier: MIT */
#include "ingest/fair_queue.h"

#include <stddef.h>

enum {
    GUESS_NS = 20000, /* of an object; and 1 ns for each byte of it */
};

static uint64_t guess(const struct pfdd_code *o)
{
    return GUESS_NS + o->n;
}

static void join(struct pfdd_fair_queue *fair_queue,
                 struct pfdd_fair_queue_task *fair_queue_task)
{
    fair_queue_task->spent = fair_queue_task->spent > fair_queue->now
                                 ? fair_queue_task->spent
                                 : fair_queue->now;
    fair_queue_task->next = fair_queue->first;
    fair_queue->first = fair_queue_task;
}

static void leave(struct pfdd_fair_queue *fair_queue,
                  struct pfdd_fair_queue_task *fair_queue_task)
{
    struct pfdd_fair_queue_task **at = &fair_queue->first;
    while (*at != fair_queue_task)
        at = &(*at)->next;
    *at = fair_queue_task->next;
}

void pfdd_fair_queue_put(struct pfdd_fair_queue *fair_queue,
                         struct pfdd_fair_queue_task *fair_queue_task,
                         struct pfdd_code *o)
{
    o->next = NULL;
    o->fair_queue_task = fair_queue_task;
    if (fair_queue_task->first) {
        fair_queue_task->last->next = o;
    } else {
        fair_queue_task->first = o;
        join(fair_queue, fair_queue_task);
    }
    fair_queue_task->last = o;
}

struct pfdd_code *pfdd_fair_queue_take(struct pfdd_fair_queue *fair_queue)
{
    struct pfdd_fair_queue_task *least = fair_queue->first;
    for (struct pfdd_fair_queue_task *t = least; t; t = t->next)
        least = t->spent < least->spent ? t : least;
    if (!least)
        return NULL;
    struct pfdd_code *o = least->first;
    fair_queue->now = least->spent;
    least->spent += guess(o);
    least->first = o->next;
    if (!least->first)
        leave(fair_queue, least);
    o->next = NULL;
    return o;
}

static void give_back(struct pfdd_fair_queue *fair_queue, struct pfdd_code *o)
{
    struct pfdd_fair_queue_task *fair_queue_task = o->fair_queue_task;
    fair_queue_task->spent -=
        guess(o) < fair_queue_task->spent ? guess(o) : fair_queue_task->spent;
    if (!fair_queue_task->first) {
        fair_queue_task->last = o;
        fair_queue_task->next = fair_queue->first;
        fair_queue->first = fair_queue_task;
    }
    o->next = fair_queue_task->first;
    fair_queue_task->first = o;
}

void pfdd_fair_queue_give_back(struct pfdd_fair_queue *fair_queue,
                               struct pfdd_code *list)
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
        give_back(fair_queue, last);
    }
}

void pfdd_fair_queue_charge(const struct pfdd_code *o)
{
    struct pfdd_fair_queue_task *fair_queue_task = o->fair_queue_task;
    fair_queue_task->spent += o->spent;
    fair_queue_task->spent -=
        guess(o) < fair_queue_task->spent ? guess(o) : fair_queue_task->spent;
}

struct pfdd_code *pfdd_fair_queue_clear(
    struct pfdd_fair_queue *fair_queue,
    struct pfdd_fair_queue_task *fair_queue_task)
{
    struct pfdd_code *all = fair_queue_task->first;
    if (all)
        leave(fair_queue, fair_queue_task);
    fair_queue_task->first = fair_queue_task->last = NULL;
    return all;
}
