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

static void on_check(uv_check_t *check)
{
    struct pfdd_loop_scheduler *r = check->data;
    r->left = ROUND_NS;
    while (r->waiting.first && r->left) {
        r->next = (struct pfdd_loop_task *)pfdd_fair_queue_take(&r->waiting);
        r->next->turn(r->next);
        r->next = NULL;
    }
    r->left = ROUND_NS;
    if (!r->waiting.first)
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
    while (pfdd_fair_queue_take(&r->waiting))
        continue;
    uv_close((uv_handle_t *)&r->check, NULL);
    uv_close((uv_handle_t *)&r->idle, NULL);
}

static void wait(struct pfdd_loop_scheduler *r, struct pfdd_loop_task *s)
{
    pfdd_fair_queue_put(&r->waiting, &s->task);
    uv_idle_start(&r->idle, on_idle);
}

bool pfdd_loop_scheduler_begin(struct pfdd_loop_scheduler *r,
                               struct pfdd_loop_task *s)
{
    if (!r->is_open)
        return true;
    pfdd_fair_queue_catch_up(&r->waiting, &s->task);
    if (r->next != s && (r->waiting.first || !r->left)) {
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
    s->task.charged += spent;
    r->left -= spent < r->left ? spent : r->left;
    if (more && r->is_open)
        wait(r, s);
}

void pfdd_loop_scheduler_leave(struct pfdd_loop_scheduler *r,
                               struct pfdd_loop_task *s)
{
    pfdd_fair_queue_leave(&r->waiting, &s->task);
}
