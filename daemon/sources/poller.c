/* SPDX-License-Identifier: MIT */
#include "sources/poller.h"

#include <stdlib.h>

#include "sources/daemon.h"
#include "sources/session.h"

enum {
    LONGEST_MS = 50
};

struct pfdd_poller {
    uv_timer_t timer;
    struct pfdd *d;
    unsigned interval;
};

static void on_timer(uv_timer_t *timer)
{
    struct pfdd_poller *p = timer->data;
    struct pfdd_session *next = NULL;
    unsigned soonest = LONGEST_MS;
    uint64_t now = uv_hrtime();
    uint64_t n_waits = p->d->count.waits;
    struct pfdd_session *waiting = NULL;
    for (struct pfdd_session *s = p->d->sessions; s; s = next) {
        next = pfdd_session_next(s);
        unsigned ms = pfdd_session_poll(s, now);
        if (!waiting && p->d->count.waits != n_waits)
            waiting = s;
        if (ms < soonest)
            soonest = ms;
    }
    /* Who had to wait has the first turn the next time. */
    if (waiting)
        pfdd_sessions_begin_with(p->d, waiting);
    p->interval = soonest;
    if (p->d->sessions)
        uv_timer_start(timer, on_timer, soonest, 0);
}

struct pfdd_poller *pfdd_poller_new(struct pfdd *d)
{
    struct pfdd_poller *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->d = d;
    p->interval = LONGEST_MS;
    uv_timer_init(d->loop, &p->timer);
    p->timer.data = p;
    return p;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void pfdd_poller_free(struct pfdd_poller *p)
{
    if (p)
        uv_close((uv_handle_t *)&p->timer, on_closed);
}

void pfdd_poller_kick(struct pfdd_poller *p)
{
    if (!uv_is_active((uv_handle_t *)&p->timer) ||
        uv_timer_get_due_in(&p->timer) > 1)
        uv_timer_start(&p->timer, on_timer, 1, 0);
}

unsigned pfdd_poller_interval(const struct pfdd_poller *p)
{
    return p->interval;
}
