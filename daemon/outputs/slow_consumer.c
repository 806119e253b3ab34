/* SPDX-License-Identifier: MIT */
#include "outputs/slow_consumer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/log.h"
#include "outputs/delivery.h"
#include "ring/cursor.h"
#include "spool/spool.h"

enum {
    BEGIN_MS = 1000,  /* shorter waits are not logged */
    AGAIN_MS = 60000, /* between log lines, while it lasts */
    OVER_MS = 1000,   /* no longer slow after that */
    NS_PER_MS = 1000000,
};

struct culprit {
    const char *name;
    bool is_required;
    bool is_absent;
    uint64_t n_lines; /* that wait for it */
};

/* The slowest cursor that sources waited for just now; NULL: none. */
static const struct pfdd_cursor *slowest_reader(const struct pfdd_ring *ring)
{
    const struct pfdd_cursor *slowest = NULL;
    uint64_t now = uv_hrtime();
    for (const struct pfdd_cursor *r = pfdd_cursors_first(ring); r;
         r = pfdd_cursors_next(r)) {
        bool awaited =
            r->reader.must_have_all ||
            now - r->times.awaited_ns < (uint64_t)OVER_MS * NS_PER_MS;
        if (awaited &&
            (!slowest || pfdd_cursor_seq(r) < pfdd_cursor_seq(slowest)))
            slowest = r;
    }
    return slowest;
}

/* False: no consumer is slow now. */
static bool find(const struct pfdd_ring *ring, const struct pfdd_spool *spool,
                 bool has_waited, struct culprit *ret)
{
    const struct pfdd_consumer *c =
        spool ? pfdd_spool_slowest_consumer(spool) : NULL;
    const struct pfdd_cursor *r =
        !c && has_waited ? slowest_reader(ring) : NULL;
    uint64_t seq = c ? c->acked : r ? pfdd_cursor_seq(r) - 1 : 0;
    ret->name = c ? c->name : r ? r->name : NULL;
    ret->is_required = c != NULL;
    ret->is_absent = c && c->absent;
    ret->n_lines = ring->next_seq - 1 - seq;
    return ret->name != NULL;
}

static void tell_over(struct pfdd_slow_consumer *h)
{
    double seconds = (double)(h->last_ms - h->since_ms) / 1000;
    if (h->told) {
        pfdd_log(PFDD_WARNING,
                 "%s holds nobody up any more, after %.1f seconds", h->who,
                 seconds);
    }
    h->told = false;
    h->who[0] = '\0';
}

static void tell(struct pfdd_slow_consumer *h, uint64_t now,
                 const struct culprit *c)
{
    pfdd_log(PFDD_WARNING,
             "%s holds others up, for %.1f seconds now: %" PRIu64
             " lines wait for it, and sources do%s",
             h->who, (double)(now - h->since_ms) / 1000, c->n_lines,
             c->is_absent ? "; nobody is connected to it" : "");
    h->told = true;
    h->told_ms = now;
}

void pfdd_slow_consumer_look(struct pfdd_slow_consumer *h, uint64_t now,
                             const struct pfdd_ring *ring,
                             const struct pfdd_spool *spool, uint64_t n_waits)
{
    struct culprit c;
    char who[sizeof h->who] = "";
    if (find(ring, spool, n_waits != h->waits, &c)) {
        snprintf(who, sizeof who, "%s%s",
                 c.is_required ? "the required output " : "", c.name);
    }
    h->waits = n_waits;
    if (h->who[0] &&
        (who[0] ? strcmp(who, h->who) != 0 : now - h->last_ms >= OVER_MS))
        tell_over(h);
    if (!who[0])
        return;
    if (!h->who[0]) {
        memcpy(h->who, who, sizeof who);
        h->since_ms = now;
    }
    h->last_ms = now;
    if (h->told ? now - h->told_ms >= AGAIN_MS : now - h->since_ms >= BEGIN_MS)
        tell(h, now, &c);
}

bool pfdd_slow_consumer_is_dropped(const struct pfdd_output *output,
                                   const struct pfdd_cursor *cursor)
{
    if (output->config->on_lag != PFDD_DISCONNECT ||
        !pfdd_cursor_has_missed(cursor))
        return false;
    output->delivery->count->disconnected++;
    pfdd_log(PFDD_INFO, "a subscriber of %s was too slow: disconnected",
             output->config->access.address.text);
    return true;
}
