/* SPDX-License-Identifier: MIT */
/* Where the way is lost, and found again. */
#include <string.h>

#include "walk.h"

enum {
    /* Bytes that decide where the way goes on, and entries that are followed. */
    RANGE_BYTES = 64 * 1024,
    CHAIN_DEPTH = 8,
};

bool ring_sees_enough(const struct pfd_walk *w, const struct ring *st,
                      uint64_t at)
{
    uint64_t end = pfd_walk_end(w);
    return w->last || at + RANGE_BYTES <= end || st->end <= end;
}

static bool is_zero(const struct pfd_walk *w, uint64_t from, uint64_t n)
{
    const uint8_t *p = pfd_byte_reader_peek(&w->view, from - w->base);
    return n == 0 || (!p[0] && !memcmp(p, p + 1, n - 1));
}

static bool leads_on(const struct pfd_walk *w, const struct ring *st,
                     uint64_t at)
{
    uint64_t limit = at + RANGE_BYTES < st->end ? at + RANGE_BYTES : st->end;
    for (unsigned i = 0; i <= CHAIN_DEPTH && at != st->end; i++) {
        if (limit - at < st->number[RING_HEADER])
            return i > 0 && limit < st->end;
        struct ring_entry e = ring_look(w, st, at);
        if (!e.string || !e.n)
            return false;
        if (e.n > limit - at)
            return i > 0;
        if (i == 0 && is_zero(w, at, e.n))
            return false;
        at += e.n;
    }
    return true;
}

bool ring_is_unwritten(const struct pfd_walk *w, const struct ring *st,
                       uint64_t from)
{
    return st->wanted > pfd_walk_end(w) && st->end - from <= RANGE_BYTES &&
           from >= w->base && is_zero(w, from, st->end - from);
}

static void report_gap(struct pfd_walk *w, struct ring *st, uint64_t to)
{
    bool is_known = st->lost_id != RING_KEY &&
                    pfd_table_find(w->table, st->lost_id) != NULL;
    w->batch->skipped_bytes += to - st->from;
    st->is_none = st->from == st->number[RING_DATA] && to == st->end &&
                  ring_is_absurd(w, st);
    if (st->is_none)
        return;
    if (to == st->end && ring_is_unwritten(w, st, st->from)) {
        w->batch->skipped_bytes -= to - st->from;
        st->held = st->from;
        return;
    }
    pfd_walk_finding(
        w, is_known ? PFD_FINDING_bad_size : PFD_FINDING_unknown_id, st->from,
        "%s id 0x%llx, and its length leads to no entry; %llu bytes skipped, "
        "up to %llu",
        is_known ? "the entry has" : "no message has",
        (unsigned long long)st->lost_id, (unsigned long long)(to - st->from),
        (unsigned long long)to);
}

/* What must stay in view: a short gap is looked at again at its end. */
static uint64_t kept(const struct ring *st)
{
    return st->next - st->from <= RANGE_BYTES ? st->from : st->next;
}

enum pfd_status ring_find_way(struct pfd_walk *w, struct ring *st)
{
    uint64_t end = st->end;
    while (st->next < end && end - st->next >= st->number[RING_HEADER]) {
        if (!ring_sees_enough(w, st, st->next)) {
            w->at = kept(st);
            return PFD_MORE;
        }
        st->next = pfd_walk_pass(w, st->next, end);
        if (end - st->next >= st->number[RING_HEADER] &&
            leads_on(w, st, st->next))
            break;
        st->next += st->number[RING_ALIGN];
    }
    if (st->next > end || end - st->next < st->number[RING_HEADER])
        st->next = end;
    report_gap(w, st, st->next);
    st->is_lost = false;
    w->at = st->next;
    return PFD_OK;
}

void ring_lose_way(struct pfd_walk *w, struct ring *st, uint64_t id)
{
    st->is_lost = true;
    st->from = w->at;
    st->lost_id = id;
    st->next = w->at + st->number[RING_ALIGN];
}
