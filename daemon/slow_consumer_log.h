/* SPDX-License-Identifier: MIT */
/*
 * Detects slow consumers: a required output that does not acknowledge its
 * lines, or a subscriber that reads too slowly. They are logged when it begins
 * to matter, from time to time while it lasts, and when it is over. Loop thread
 * only.
 */
#ifndef PFDD_SLOW_CONSUMER_LOG_H
#define PFDD_SLOW_CONSUMER_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct pfdd;

struct pfdd_slow_consumer_log {
    char who[160];     /* "": none */
    bool told;         /* it has been logged */
    uint64_t since_ms; /* uv_now(); all zero to begin with */
    uint64_t last_ms;  /* when it was slow last */
    uint64_t told_ms;
    uint64_t waits; /* pfdd_counters.waits at the last check */
};

/* Call at every tick. */
void pfdd_slow_consumer_log_look(struct pfdd_slow_consumer_log *h,
                                 const struct pfdd *d);

#endif
