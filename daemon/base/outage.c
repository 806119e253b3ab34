/* SPDX-License-Identifier: MIT */
#include "base/outage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    AGAIN_MS = 60000,
    LASTS_MS = 5000,
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + 1;
}

/* Moves a reason, or the one that is replaced by it, to the front. */
static void bring_forward(struct pfdd_outage *o, const char *why, uint64_t now)
{
    char text[PFDD_OUTAGE_WHY];
    unsigned i = 0;
    snprintf(text, sizeof text, "%s", why);
    while (i < PFDD_OUTAGE_REASONS - 1 && strcmp(o->reasons[i].why, text) != 0)
        i++;
    bool is_known = !strcmp(o->reasons[i].why, text);
    uint64_t told = is_known ? o->reasons[i].told : 0;
    uint64_t n = is_known ? o->reasons[i].n : 0;
    if (!o->is_on || i > 0)
        o->back = is_known ? now : 0;
    memmove(&o->reasons[1], &o->reasons[0], i * sizeof *o->reasons);
    memcpy(o->reasons[0].why, text, sizeof text);
    o->reasons[0].told = told;
    o->reasons[0].n = n;
}

static struct pfdd_log_topic *topic_of(struct pfdd_outage *o)
{
    return o->shared ? o->shared : &o->topic;
}

void pfdd_outage_note(struct pfdd_outage *o, enum pfdd_level level,
                      const char *who, const char *why)
{
    uint64_t now = now_ms();
    bring_forward(o, why, now);
    bool lasts = o->back && now - o->back >= LASTS_MS;
    uint64_t told = o->reasons[0].told;
    uint64_t n = ++o->reasons[0].n;
    o->is_on = true;
    if (told && now - told < AGAIN_MS && !lasts)
        return;
    if (told && n > 1) {
        pfdd_log_at(topic_of(o), level,
                    "%s: %s; trying again, %" PRIu64 " times in %" PRIu64
                    " seconds",
                    who, why, n, (now - told) / 1000);
    } else {
        pfdd_log_at(topic_of(o), level, "%s: %s; trying again", who, why);
    }
    o->reasons[0].told = now;
    o->reasons[0].n = 0;
    o->is_told = true;
    o->back = 0;
}

void pfdd_outage_end(struct pfdd_outage *o, const char *who, const char *what)
{
    if (o->is_told)
        pfdd_log_at(topic_of(o), PFDD_INFO, "%s: %s", who, what);
    o->is_on = o->is_told = false;
}

const char *pfdd_outage_why(const struct pfdd_outage *o)
{
    return o->is_on ? o->reasons[0].why : NULL;
}
