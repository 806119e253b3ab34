/* SPDX-License-Identifier: MIT */
/*
 * The clock of all sessions: stores to mapped memory make no event, so that
 * buffers are looked at again and again, each millisecond while something
 * moves, each 50 ms when nothing does. One timer for all, so that idle buffers
 * have their turns together.
 */
#ifndef PFDD_POLLER_H
#define PFDD_POLLER_H

struct pfdd;
struct pfdd_poller;

struct pfdd_poller *pfdd_poller_new(struct pfdd *d);
/* The loop frees its memory. NULL is allowed. */
void pfdd_poller_free(struct pfdd_poller *poller);

/* Something is due: look now and not at the end of a long wait. */
void pfdd_poller_kick(struct pfdd_poller *poller);

/* ms between looks at present, for /metrics. */
unsigned pfdd_poller_interval(const struct pfdd_poller *poller);

#endif
