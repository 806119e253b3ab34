/* SPDX-License-Identifier: MIT */
/*
 * Who holds others up: a required output that does not take its lines, or a
 * subscriber that reads too slowly. Said in the log when it begins to matter,
 * from time to time while it lasts, and when it is over. Loop thread only.
 */
#ifndef PFDD_SLOW_CONSUMERS_H
#define PFDD_SLOW_CONSUMERS_H

#include <stdbool.h>
#include <stdint.h>

struct pfdd;

struct pfdd_slow_consumers {
    char who[160];     /* "" : nobody */
    bool told;         /* it is in the log */
    uint64_t since_ms; /* uv_now(); all zero to begin with */
    uint64_t last_ms;  /* seen last */
    uint64_t told_ms;
    uint64_t waits; /* pfdd_counters.waits, the last time */
};

/* Looks: to be called all the time. */
void pfdd_slow_consumers_look(struct pfdd_slow_consumers *h,
                              const struct pfdd *d);

#endif
