/* SPDX-License-Identifier: MIT */
#include "base/loop_scheduler.h"

#include <stddef.h>

enum {
    TURN_NS = 1000000,
    ROUND_NS = 4000000, /* of all turns, in one loop iteration */
};

static void on_idle(uv_idle_t *idle)
{
    (void)idle;
}

/* first: of the waiting tasks. */
static struct pfdd_loop_task *find_least(struct pfdd_loop_task *first)
{
    struct pfdd_loop_task *least = first;
    for (struct pfdd_loop_task *s = first->next; s; s = s->next)
        least = s->spent < least->spent ? s : least;
    return least;
}

static void on_check(uv_check_t *check)
{
    struct pfdd_loop_scheduler *r = check->data;
    r->left = ROUND_NS;
    while (r->first && r->left) {
        struct pfdd_loop_task *s = find_least(r->first);
        pfdd_loop_scheduler_leave(r, s);
        r->now = s->spent;
        r->next = s;
        s->turn(s);
        r->next = NULL;
    }
    r->left = ROUND_NS;
    if (!r->first)
        uv_idle_stop(&r->idle);
}

void pfdd_loop_scheduler_open(struct pfdd_loop_scheduler *r, uv_loop_t *loop)
{
    *r = (struct pfdd_loop_scheduler){ .is_open = true, .left = ROUND_NS };
    uv_check_init(loop, &r->check);
    uv_idle_init(loop, &r->idle);
    r->check.data = r;
    uv_check_start(&r->check, on_check);
}

void pfdd_loop_scheduler_close(struct pfdd_loop_scheduler *r)
{
    r->is_open = false;
    r->first = NULL;
    uv_close((uv_handle_t *)&r->check, NULL);
    uv_close((uv_handle_t *)&r->idle, NULL);
}

static void wait(struct pfdd_loop_scheduler *r, struct pfdd_loop_task *s)
{
    if (s->waits)
        return;
    s->waits = true;
    s->next = r->first;
    r->first = s;
    uv_idle_start(&r->idle, on_idle);
}

bool pfdd_loop_scheduler_begin(struct pfdd_loop_scheduler *r,
                               struct pfdd_loop_task *s)
{
    if (!r->is_open)
        return true;
    /* A task cannot save up time. */
    s->spent = s->spent > r->now ? s->spent : r->now;
    if (r->next != s && (r->first || !r->left)) {
        wait(r, s);
        return false;
    }
    r->next = NULL;
    r->began = uv_hrtime();
    return true;
}

bool pfdd_loop_scheduler_is_over(const struct pfdd_loop_scheduler *r)
{
    return r->began && uv_hrtime() - r->began >= TURN_NS;
}

void pfdd_loop_scheduler_end(struct pfdd_loop_scheduler *r,
                             struct pfdd_loop_task *s, bool more)
{
    uint64_t spent = r->began ? uv_hrtime() - r->began : 0;
    r->began = 0;
    s->spent += spent;
    r->left -= spent < r->left ? spent : r->left;
    if (more && r->is_open)
        wait(r, s);
}

void pfdd_loop_scheduler_leave(struct pfdd_loop_scheduler *r,
                               struct pfdd_loop_task *s)
{
    struct pfdd_loop_task **at = &r->first;
    if (!s->waits)
        return;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    s->waits = false;
}
