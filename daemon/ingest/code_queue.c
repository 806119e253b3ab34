/* SPDX-License-Identifier: MIT */
#include "ingest/code_queue.h"

#include "ingest/code_object.h"

enum {
    GUESS_NS = 20000, /* of an object; and 1 ns for each byte of it */
};

static uint64_t guess(const struct pfdd_code *o)
{
    return GUESS_NS + o->n;
}

void pfdd_code_queue_put(struct pfdd_fair_queue *all,
                         struct pfdd_code_queue *code_queue,
                         struct pfdd_code *o)
{
    o->next = NULL;
    o->code_queue = code_queue;
    if (code_queue->first) {
        code_queue->last->next = o;
    } else {
        code_queue->first = o;
        pfdd_fair_queue_catch_up(all, &code_queue->task);
        pfdd_fair_queue_put(all, &code_queue->task);
    }
    code_queue->last = o;
}

struct pfdd_code *pfdd_code_queue_take(struct pfdd_fair_queue *all)
{
    struct pfdd_code_queue *queue =
        (struct pfdd_code_queue *)pfdd_fair_queue_take(all);
    if (!queue)
        return NULL;
    struct pfdd_code *o = queue->first;
    queue->task.charged += guess(o);
    queue->first = o->next;
    if (queue->first)
        pfdd_fair_queue_put(all, &queue->task);
    o->next = NULL;
    return o;
}

static void take_back_guess(const struct pfdd_code *o)
{
    struct pfdd_fair_task *task = &o->code_queue->task;
    task->charged -= guess(o) < task->charged ? guess(o) : task->charged;
}

static void give_back(struct pfdd_fair_queue *all, struct pfdd_code *o)
{
    struct pfdd_code_queue *queue = o->code_queue;
    take_back_guess(o);
    if (!queue->first)
        queue->last = o;
    o->next = queue->first;
    queue->first = o;
    pfdd_fair_queue_put(all, &queue->task);
}

void pfdd_code_queue_give_back(struct pfdd_fair_queue *all,
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
        give_back(all, last);
    }
}

void pfdd_code_queue_charge(const struct pfdd_code *o)
{
    o->code_queue->task.charged += o->spent;
    take_back_guess(o);
}

struct pfdd_code *pfdd_code_queue_clear(struct pfdd_fair_queue *all,
                                        struct pfdd_code_queue *code_queue)
{
    struct pfdd_code *list = code_queue->first;
    pfdd_fair_queue_leave(all, &code_queue->task);
    code_queue->first = code_queue->last = NULL;
    return list;
}
