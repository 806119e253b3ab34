/* SPDX-License-Identifier: MIT */
/*
 * Logs why a peer or a file cannot be used: each reason at once, and again with a
 * count each minute while it lasts. A reason that is back, behind another one or
 * success, is logged once it lasts for some seconds; one that takes turns with them
 * each minute, so that it does not fill the log. One thread at a time.
 */
#ifndef PFDD_OUTAGE_H
#define PFDD_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

enum {
    PFDD_OUTAGE_WHY = 240,
    PFDD_OUTAGE_REASONS = 4, /* that are remembered */
};

/* All zeros: nothing has failed. */
struct pfdd_outage {
    struct {
        char why[PFDD_OUTAGE_WHY];
        uint64_t told; /* ms; 0: never */
        uint64_t n;    /* failures since then */
    } reasons[PFDD_OUTAGE_REASONS];
    uint64_t back; /* ms, when the first reason came back; 0: logged since */
    bool is_on;
    bool is_told; /* that it is on */
    struct pfdd_log_topic topic;
    /* Of an owner that has many outages, which speak at one rate; NULL: its
     * topic is its own. Lines of other outages do not hold its lines back. */
    struct pfdd_log_topic *shared;
};

/* It has failed, and is tried again: "WHO: WHY; trying again". */
void pfdd_outage_note(struct pfdd_outage *outage, enum pfdd_level level,
                      const char *who, const char *why);

/* It works; what: "answers again" or the like, logged if the outage was. */
void pfdd_outage_end(struct pfdd_outage *outage, const char *who,
                     const char *what);

/* The reason of the last failure; NULL: it works, as far as is known. */
const char *pfdd_outage_why(const struct pfdd_outage *outage);

#endif
