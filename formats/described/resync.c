/* SPDX-License-Identifier: MIT */
/* Where the way is lost, and found again. */
#include "walk.h"

enum {
    CHAIN_DEPTH = 8, /* entries that are followed */
};

bool ring_sees_enough(const struct pfd_walk *w, const struct ring *st,
                      uint64_t at)
{
    uint64_t end = pfd_walk_end(w);
    return w->last || at + RING_RANGE <= end || st->end <= end;
}

bool ring_is_zero(const struct pfd_walk *w, const struct ring *st,
                  uint64_t from, uint64_t n)
{
    if (n == 0)
        return true;
    uint64_t to_fold = from < st->fold ? st->fold - from : n;
    if (n > to_fold) {
        return ring_is_zero(w, st, from, to_fold) &&
               ring_is_zero(w, st, st->fold, n - to_fold);
    }
    const uint8_t *p = pfd_byte_reader_peek(
        &w->view, (size_t)(ring_place(st, from) - w->base));
    return !p[0] && !memcmp(p, p + 1, (size_t)n - 1);
}

/* A known message, with room for its arguments. */
static bool is_plausible(const struct ring *st, const struct ring_entry *e)
{
    uint64_t n = e->lanes ? e->lane : e->n - st->number[RING_HEADER];
    return ring_has(st, RING_TEXT) || (e->string && n >= e->string->n_payload);
}

/* Does a message stand here, and do more entries follow it? A mark alone tells
 * nothing: an argument may have its bytes. Nor does what stands where the ring
 * begins anew, wherever the mark is. */
static bool leads_on(const struct pfd_walk *w, const struct ring *st,
                     uint64_t at)
{
    uint64_t limit = at + RING_RANGE < st->end ? at + RING_RANGE : st->end;
    for (unsigned i = 0; i <= CHAIN_DEPTH && at != st->end; i++) {
        if (limit - at < st->number[RING_HEADER])
            return i > 0 && limit < st->end;
        struct ring_entry e = ring_look(w, st, at);
        if (i == 0 && e.kind != RING_MESSAGE)
            return false;
        if (e.kind == RING_NONE || (e.kind == RING_AGAIN && e.n))
            return true;
        if (!e.n || (e.kind == RING_MESSAGE && !is_plausible(st, &e)))
            return false;
        if (e.n > limit - at)
            return i > 0;
        if (i == 0 && ring_is_zero(w, st, at, e.n))
            return false;
        at += e.n;
    }
    return true;
}

bool ring_is_unwritten(const struct pfd_walk *w, const struct ring *st,
                       uint64_t from)
{
    return !st->is_ring && st->wanted > st->end &&
           st->end - from <= RING_RANGE && from >= w->base &&
           ring_is_zero(w, st, from, st->end - from);
}

/* What is told of a gap, behind what it is about. */
struct gap {
    enum pfd_finding_kind kind;
    uint64_t at;
    unsigned long long entry;
    unsigned long long id;
    unsigned long long n;
    unsigned long long to;
};

#define GAP(why)                               \
    "entry %llu at byte %llu (id 0x%llx) " why \
    "; %llu bytes skipped, up to %llu"

static void tell(struct pfd_walk *w, const struct gap *g, const char *why)
{
    pfd_walk_finding(w, g->kind, g->at, GAP("%s"), g->entry,
                     (unsigned long long)g->at, g->id, why, g->n, g->to);
}

/* What an entry states, and what it could state. */
static void tell_length(struct pfd_walk *w, const struct ring *st,
                        const struct gap *g)
{
    const uint64_t *v = st->number;
    unsigned long long at = g->at;
    unsigned long long lanes = st->lost_lanes;
    unsigned long long stated = st->lost_stated;
    if (ring_has(st, RING_LANES) && v[RING_SLOT_BYTES]) {
        pfd_walk_finding(w, g->kind, at,
                         GAP("states %llu lanes, where 1 to as many as a slot "
                             "of %llu bytes holds can be"),
                         g->entry, at, g->id, lanes,
                         (unsigned long long)v[RING_SLOT_BYTES], g->n, g->to);
    } else if (ring_has(st, RING_LANES)) {
        pfd_walk_finding(w, g->kind, at,
                         GAP("states %llu lanes of length %llu, where 1 to %d "
                             "of up to %d can be"),
                         g->entry, at, g->id, lanes, stated, RING_LANES_LIMIT,
                         RING_LANE_LIMIT, g->n, g->to);
    } else {
        unsigned long long unit = v[RING_LENGTH_UNIT];
        unsigned long long plus = v[RING_LENGTH_PLUS];
        unsigned long long header = v[RING_HEADER];
        unsigned long long least =
            header > plus ? (header - plus + unit - 1) / unit : 0;
        pfd_walk_finding(w, g->kind, at,
                         GAP("states a length of %llu, where %llu to %llu can "
                             "be"),
                         g->entry, at, g->id, stated, least,
                         (UINT32_MAX - plus) / unit, g->n, g->to);
    }
}

static void report_gap(struct pfd_walk *w, struct ring *st, uint64_t to)
{
    bool is_known = st->lost_id < RESERVED_KEY &&
                    pfd_table_find(w->table, st->lost_id) != NULL;
    if (to == st->from)
        return;
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
    struct gap gap = {
        .kind = is_known ? PFD_FINDING_bad_size : PFD_FINDING_unknown_id,
        .at = ring_place(st, st->from),
        .entry = st->n_entries,
        .id = st->lost_id,
        .n = to - st->from,
        .to = ring_place(st, to),
    };
    if (st->why) {
        tell(w, &gap, st->why);
    } else {
        tell_length(w, st, &gap);
    }
}

/* Between places where an entry may be. */
static uint64_t distance(const struct ring *st)
{
    const uint64_t *v = st->number;
    return v[RING_SLOT_BYTES] ? v[RING_SLOT_BYTES] : v[RING_ALIGN];
}

/* What must stay in view: a short gap is looked at again at its end. */
static uint64_t kept(const struct ring *st)
{
    return st->next - st->from <= RING_RANGE ? st->from : st->next;
}

enum pfd_status ring_find_way(struct pfd_walk *w, struct ring *st)
{
    uint64_t end = st->end;
    while (st->next < end && end - st->next >= st->number[RING_HEADER]) {
        if (!ring_sees_enough(w, st, st->next)) {
            st->at = kept(st);
            return PFD_MORE;
        }
        if (!st->is_ring)
            st->next = pfd_walk_pass(w, st->next, end);
        if (end - st->next >= st->number[RING_HEADER] &&
            (st->number[RING_SLOT_BYTES] || leads_on(w, st, st->next)))
            break;
        st->next += distance(st);
    }
    if (st->next > end || end - st->next < st->number[RING_HEADER])
        st->next = end;
    report_gap(w, st, st->next);
    /* A mark may have been among what was skipped. */
    if (st->n_entries && ring_has(st, RING_PROGRAM))
        st->program = PROGRAM_UNKNOWN;
    st->is_lost = false;
    st->at = st->next;
    return PFD_OK;
}

void ring_lose_way(struct ring *st, const struct ring_entry *e)
{
    bool is_cut = e->n && e->n > st->end - st->at;
    st->is_lost = true;
    st->from = st->at;
    st->lost_id = e->key;
    st->next = st->at + distance(st);
    if (is_cut) {
        st->why = e->n > st->wanted - st->at && !st->is_ring
                      ? "would end beyond the counter"
                      : "would end beyond what is there";
    } else if (!e->n &&
               (ring_has(st, RING_LENGTH) || ring_has(st, RING_LANES))) {
        st->why = NULL;
        st->lost_stated = e->stated;
        st->lost_lanes = e->lanes;
    } else {
        st->why = e->string ? "has arguments that do not end where they could"
                            : "is of no message, and nothing says its length";
    }
}
