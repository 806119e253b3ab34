/* SPDX-License-Identifier: MIT */
/* Where a described ring begins and ends, and what it lost. */
#include <string.h>

#include "walk.h"

enum {
    /* A counter of more than this, and so many times what is there, is none. */
    WANTED_MAX = 1 << 26,
    TIMES_MAX = 64,
};

bool ring_is_absurd(const struct pfd_walk *w, const struct ring *st)
{
    return st->wanted != UINT64_MAX && st->wanted > WANTED_MAX &&
           st->wanted / TIMES_MAX > pfd_walk_end(w);
}

static uint64_t wanted_of(const struct ring *st)
{
    const uint64_t *v = st->number;
    uint64_t unit =
        v[RING_SLOT_BYTES] ? v[RING_SLOT_BYTES] : v[RING_COUNTER_UNIT];
    uint64_t from = v[RING_SLOT_BYTES] ? v[RING_DATA] : v[RING_COUNTER_FROM];
    if (st->counter > (UINT64_MAX - 1 - from) / unit)
        return UINT64_MAX - 1;
    uint64_t ret = from + st->counter * unit;
    return ret < v[RING_DATA] ? v[RING_DATA] : ret;
}

static enum pfd_status no_ring(struct pfd_walk *w, const char *why)
{
    pfd_walk_finding(w, PFD_FINDING_no_header, 0, "%s", why);
    w->batch->skipped_bytes += pfd_walk_end(w) - w->at;
    w->at = pfd_walk_end(w);
    return PFD_END;
}

enum pfd_status ring_begin(struct pfd_walk *w, struct ring *st)
{
    const struct pfd_string *ring = pfd_table_find(w->table, RING_KEY);
    uint64_t *v = st->number;
    if (!ring || ring->n_layout != RING_NUMBERS)
        return no_ring(w, "no description of the ring is loaded");
    memcpy(v, pfd_string_layout(ring), sizeof st->number);
    uint64_t head = v[RING_DATA];
    uint64_t n_counter = v[RING_COUNTER_BITS] / 8;
    if (n_counter && v[RING_COUNTER_AT] + n_counter > head)
        head = v[RING_COUNTER_AT] + n_counter;
    if (pfd_walk_end(w) < head) {
        return w->last ? no_ring(w, "the file ends before the ring's data")
                       : PFD_MORE;
    }
    st->wanted = UINT64_MAX;
    if (n_counter) {
        st->counter = n_counter == 8 ? pfd_walk_u64(w, v[RING_COUNTER_AT])
                                     : pfd_walk_u32(w, v[RING_COUNTER_AT]);
        st->wanted = wanted_of(st);
    }
    st->end = st->wanted;
    st->is_open = true;
    w->at = v[RING_DATA];
    return PFD_OK;
}

void ring_report_loss(struct pfd_walk *w, const struct ring *st)
{
    uint64_t held = st->held ? st->held : pfd_walk_end(w);
    if (st->is_none) {
        pfd_walk_finding(w, PFD_FINDING_bad_header, st->number[RING_COUNTER_AT],
                         "the counter is %llu, and no entry is in the %llu "
                         "bytes that are here: it is damaged, or this is "
                         "another buffer",
                         (unsigned long long)st->counter,
                         (unsigned long long)held);
        return;
    }
    if (st->wanted == UINT64_MAX || st->wanted <= held)
        return;
    w->batch->lost_bytes += st->wanted - held;
    pfd_walk_finding(w, PFD_FINDING_overflow, held,
                     "the counter says %llu bytes, the buffer holds %llu: %llu "
                     "bytes are lost; a buffer of %llu bytes would have held "
                     "all",
                     (unsigned long long)st->wanted, (unsigned long long)held,
                     (unsigned long long)(st->wanted - held),
                     (unsigned long long)st->wanted);
}
