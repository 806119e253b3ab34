/* SPDX-License-Identifier: MIT */
/*
 * Polls all followers. Stores to mapped memory make no event, so buffers are
 * polled: every millisecond while something changes, every 50 ms when nothing
 * does. One timer serves all, so that idle buffers are polled together.
 */
#ifndef PFDD_POLLER_H
#define PFDD_POLLER_H

#include <uv.h>

enum {
    PFDD_POLL_MS = 50, /* between polls when nothing changes */
};

struct pfdd_poller;

/* turn: polls everything and returns the ms until the next time; UINT_MAX: nothing
 * is left to poll. NULL: out of memory. */
struct pfdd_poller *pfdd_poller_new(uv_loop_t *loop,
                                    unsigned (*turn)(void *user), void *user);
/* The loop frees its memory. NULL is allowed. */
void pfdd_poller_free(struct pfdd_poller *poller);

/* Something is due: poll now, not at the end of a long wait. */
void pfdd_poller_kick(struct pfdd_poller *poller);

/* ms between polls at present, for /metrics. */
unsigned pfdd_poller_interval(const struct pfdd_poller *poller);

#endif
