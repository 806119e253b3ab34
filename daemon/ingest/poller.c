/* SPDX-License-Identifier: MIT */
#include "ingest/poller.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    SHORTEST_NS = 500000,
};

/* The loop's timers have a resolution of 1 ms: the shortest interval has a
 * timerfd of its own. */
struct pfdd_poller {
    uv_timer_t timer;
    uv_poll_t tick;
    int tick_fd; /* a timerfd; -1: none, the loop's timer is used */
    bool ticks;  /* it is running: another kick does not delay it */
    unsigned n_open;
    unsigned (*turn)(void *user);
    void *user;
    unsigned interval;
};

static void on_timer(uv_timer_t *timer);

static void wait(struct pfdd_poller *p, unsigned ms)
{
    const struct itimerspec soon = { .it_value = { .tv_nsec = SHORTEST_NS } };
    if (ms <= 1 && p->ticks)
        return;
    p->ticks = ms <= 1 && p->tick_fd >= 0 &&
               timerfd_settime(p->tick_fd, 0, &soon, NULL) == 0;
    if (!p->ticks)
        uv_timer_start(&p->timer, on_timer, ms, 0);
}

static void take_turn(struct pfdd_poller *p)
{
    unsigned ms = p->turn(p->user);
    p->interval = ms < PFDD_POLL_MS ? ms : PFDD_POLL_MS;
    if (ms != UINT_MAX)
        wait(p, ms);
}

static void on_timer(uv_timer_t *timer)
{
    take_turn(timer->data);
}

static void on_tick(uv_poll_t *tick, int status, int events)
{
    struct pfdd_poller *p = tick->data;
    uint64_t n = 0;
    (void)status;
    (void)events;
    if (read(p->tick_fd, &n, sizeof n) == sizeof n) {
        uv_timer_stop(&p->timer);
        p->ticks = false;
        take_turn(p);
    }
}

static void open_tick(struct pfdd_poller *p, uv_loop_t *loop)
{
    p->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (p->tick_fd >= 0 && uv_poll_init(loop, &p->tick, p->tick_fd)) {
        close(p->tick_fd);
        p->tick_fd = -1;
    }
    if (p->tick_fd < 0)
        return;
    p->n_open++;
    p->tick.data = p;
    uv_poll_start(&p->tick, UV_READABLE, on_tick);
}

struct pfdd_poller *pfdd_poller_new(uv_loop_t *loop,
                                    unsigned (*turn)(void *user), void *user)
{
    struct pfdd_poller *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->turn = turn;
    p->user = user;
    p->interval = PFDD_POLL_MS;
    p->n_open = 1;
    uv_timer_init(loop, &p->timer);
    p->timer.data = p;
    open_tick(p, loop);
    return p;
}

static void on_closed(uv_handle_t *handle)
{
    struct pfdd_poller *p = handle->data;
    if (--p->n_open == 0)
        free(p);
}

void pfdd_poller_free(struct pfdd_poller *p)
{
    if (!p)
        return;
    if (p->tick_fd >= 0) {
        uv_poll_stop(&p->tick);
        close(p->tick_fd);
        uv_close((uv_handle_t *)&p->tick, on_closed);
    }
    uv_close((uv_handle_t *)&p->timer, on_closed);
}

void pfdd_poller_kick(struct pfdd_poller *p)
{
    if (!uv_is_active((uv_handle_t *)&p->timer) ||
        uv_timer_get_due_in(&p->timer) > 1)
        wait(p, 1);
}

unsigned pfdd_poller_interval(const struct pfdd_poller *p)
{
    return p->interval;
}
