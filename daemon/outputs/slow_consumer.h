/* SPDX-License-Identifier: MIT */
/*
 * Detects slow consumers: a required output that does not acknowledge its
 * lines, or a subscriber that reads too slowly. They are logged when it begins
 * to matter, from time to time while it lasts, and when it is over; a subscriber
 * may be dropped instead. Loop thread only.
 */
#ifndef PFDD_SLOW_CONSUMER_H
#define PFDD_SLOW_CONSUMER_H

#include <stdbool.h>
#include <stdint.h>

struct pfdd_cursor;
struct pfdd_output;
struct pfdd_ring;
struct pfdd_spool;

struct pfdd_slow_consumer {
    char who[160];     /* "": none */
    bool told;         /* it has been logged */
    uint64_t since_ms; /* uv_now(); all zero to begin with */
    uint64_t last_ms;  /* when it was slow last */
    uint64_t told_ms;
    uint64_t waits; /* n_waits at the last check */
};

/* Call at every tick. now: uv_now(); spool may be NULL; n_waits: how often
 * sources had to wait so far. */
void pfdd_slow_consumer_look(struct pfdd_slow_consumer *h, uint64_t now,
                             const struct pfdd_ring *ring,
                             const struct pfdd_spool *spool, uint64_t n_waits);

/* Is the subscriber of an output to be disconnected, because it has missed lines
 * and `on_lag` says so? Then it is counted and logged. */
bool pfdd_slow_consumer_is_dropped(const struct pfdd_output *output,
                                   const struct pfdd_cursor *cursor);

#endif
