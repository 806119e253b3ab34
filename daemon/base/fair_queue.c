/* SPDX-License-Identifier: MIT */
#include "base/fair_queue.h"

#include <stddef.h>

void pfdd_fair_queue_catch_up(const struct pfdd_fair_queue *fair_queue,
                              struct pfdd_fair_task *task)
{
    if (task->charged < fair_queue->now)
        task->charged = fair_queue->now;
}

void pfdd_fair_queue_put(struct pfdd_fair_queue *fair_queue,
                         struct pfdd_fair_task *task)
{
    if (task->is_queued)
        return;
    if (!fair_queue->first)
        fair_queue->end = &fair_queue->first;
    task->is_queued = true;
    task->next = NULL;
    *fair_queue->end = task;
    fair_queue->end = &task->next;
}

/* at: a link of the queue to a task. */
static struct pfdd_fair_task *unlink_at(struct pfdd_fair_queue *fair_queue,
                                        struct pfdd_fair_task **at)
{
    struct pfdd_fair_task *task = *at;
    *at = task->next;
    if (!task->next)
        fair_queue->end = at;
    task->is_queued = false;
    return task;
}

struct pfdd_fair_task *pfdd_fair_queue_take(struct pfdd_fair_queue *fair_queue)
{
    struct pfdd_fair_task **least = &fair_queue->first;
    if (!*least)
        return NULL;
    for (struct pfdd_fair_task **at = least; *at; at = &(*at)->next)
        least = (*at)->charged < (*least)->charged ? at : least;
    fair_queue->now = (*least)->charged;
    return unlink_at(fair_queue, least);
}

void pfdd_fair_queue_leave(struct pfdd_fair_queue *fair_queue,
                           struct pfdd_fair_task *task)
{
    struct pfdd_fair_task **at = &fair_queue->first;
    if (!task->is_queued)
        return;
    while (*at != task)
        at = &(*at)->next;
    unlink_at(fair_queue, at);
}
