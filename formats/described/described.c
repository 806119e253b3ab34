/* SPDX-License-Identifier: MIT */
/*
 * Rings of applications, which a description describes: docs/describe.md.
 */
#include <string.h>

#include "layout.h"

#define FINDING(kind) (UINT64_C(1) << PFD_FINDING_##kind)

enum {
    /* Bytes that decide where the way goes on, and entries that are followed. */
    RANGE_BYTES = 64 * 1024,
    CHAIN_DEPTH = 8,
    /* A counter of more than this, and so many times what is there, is none. */
    WANTED_MAX = 1 << 26,
    TIMES_MAX = 64,
};

struct state {
    bool is_open;
    bool is_lost;
    bool is_none;
    uint64_t number[RING_NUMBERS];
    uint64_t counter;
    uint64_t wanted; /* first byte behind what was asked for; UINT64_MAX:
                        unknown */
    uint64_t end;    /* behind what is there of it */
    uint64_t held;   /* behind what was written, if less is; else 0 */
    uint64_t from;   /* where the way was lost */
    uint64_t next;   /* the next place to try */
    uint64_t lost_id;
};

/* A field of bits; the word is in view. */
static uint64_t field_of(const struct pfd_walk *w, const struct state *st,
                         uint64_t at, enum ring_number where,
                         enum ring_number bits, enum ring_number shift)
{
    const uint64_t *v = st->number;
    uint64_t top = v[shift] + v[bits];
    uint64_t word = top > 32 ? pfd_walk_u64(w, at + v[where])
                             : pfd_walk_u32(w, at + v[where]);
    word >>= v[shift];
    return v[bits] < 64 ? word & ((UINT64_C(1) << v[bits]) - 1) : word;
}

/* An entry at a place, as far as its header says it. */
struct entry {
    uint64_t id;
    const struct pfd_string *string; /* NULL: unknown */
    uint64_t n;                      /* bytes; 0: not known, or impossible */
};

static uint64_t aligned(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* The header is in view. */
static struct entry look(const struct pfd_walk *w, const struct state *st,
                         uint64_t at)
{
    const uint64_t *v = st->number;
    struct entry e = { .id = field_of(w, st, at, RING_ID_AT, RING_ID_BITS,
                                      RING_ID_SHIFT) };
    if (e.id != RING_KEY)
        e.string = pfd_table_find(w->table, e.id);
    if (v[RING_SLOT_BYTES]) {
        e.n = v[RING_SLOT_BYTES];
    } else if (v[RING_LENGTH_BITS]) {
        e.n = field_of(w, st, at, RING_LENGTH_AT, RING_LENGTH_BITS,
                       RING_LENGTH_SHIFT) *
                  v[RING_LENGTH_UNIT] +
              v[RING_LENGTH_PLUS];
        if (e.n < v[RING_HEADER] || e.n > UINT32_MAX)
            e.n = 0;
    } else if (e.string) {
        e.n = v[RING_HEADER] + e.string->n_payload;
    }
    e.n = aligned(e.n, v[RING_SLOT_BYTES] ? 1 : v[RING_ALIGN]);
    return e;
}

/* ---- the beginning ---- */

static bool is_absurd(const struct pfd_walk *w, const struct state *st)
{
    return st->wanted != UINT64_MAX && st->wanted > WANTED_MAX &&
           st->wanted / TIMES_MAX > pfd_walk_end(w);
}

static uint64_t wanted_of(const struct state *st)
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

static enum pfd_status begin(struct pfd_walk *w, struct state *st)
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

/* ---- where the way is lost ---- */

static bool sees_enough(const struct pfd_walk *w, const struct state *st,
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

static bool leads_on(const struct pfd_walk *w, const struct state *st,
                     uint64_t at)
{
    uint64_t limit = at + RANGE_BYTES < st->end ? at + RANGE_BYTES : st->end;
    for (unsigned i = 0; i <= CHAIN_DEPTH && at != st->end; i++) {
        if (limit - at < st->number[RING_HEADER])
            return i > 0 && limit < st->end;
        struct entry e = look(w, st, at);
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

/* Zeros up to the end: without a counter, nothing; in a buffer that was too
 * small, the room that was left. */
static bool is_unwritten(const struct pfd_walk *w, const struct state *st,
                         uint64_t from)
{
    return st->wanted > pfd_walk_end(w) && st->end - from <= RANGE_BYTES &&
           from >= w->base && is_zero(w, from, st->end - from);
}

static void report_gap(struct pfd_walk *w, struct state *st, uint64_t to)
{
    bool is_known = st->lost_id != RING_KEY &&
                    pfd_table_find(w->table, st->lost_id) != NULL;
    w->batch->skipped_bytes += to - st->from;
    st->is_none =
        st->from == st->number[RING_DATA] && to == st->end && is_absurd(w, st);
    if (st->is_none)
        return;
    if (to == st->end && is_unwritten(w, st, st->from)) {
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
static uint64_t kept(const struct state *st)
{
    return st->next - st->from <= RANGE_BYTES ? st->from : st->next;
}

static enum pfd_status find_way(struct pfd_walk *w, struct state *st)
{
    uint64_t end = st->end;
    while (st->next < end && end - st->next >= st->number[RING_HEADER]) {
        if (!sees_enough(w, st, st->next)) {
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

/* ---- entries ---- */

static void add_entry(struct pfd_walk *w, const struct state *st,
                      const struct entry *e)
{
    const uint64_t *v = st->number;
    struct pfd_record *r = pfd_walk_record(w);
    uint64_t n_payload = e->n - v[RING_HEADER];
    *r = (struct pfd_record){
        .offset = w->at,
        .string = e->string,
        .key = e->id,
        .n_bytes = (uint32_t)e->n,
        .n_header = (uint8_t)v[RING_HEADER],
        .kind = PFD_RECORD_ENTRY,
    };
    w->at += e->n;
    if (!e->string) {
        r->findings |= FINDING(unknown_id);
        return;
    }
    if (e->string->next)
        r->findings |= FINDING(ambiguous);
    if (e->string->flags & PFD_STRING_OWN) {
        r->flags |= PFD_RECORD_SYNTHESIZED;
    } else if (e->string->n_payload > n_payload) {
        r->layout = 1;
    }
    if (!v[RING_SLOT_BYTES] &&
        n_payload >=
            aligned(v[RING_HEADER] + e->string->n_payload, v[RING_ALIGN]) -
                v[RING_HEADER] + v[RING_ALIGN])
        r->findings |= FINDING(payload_long);
}

static void lose_way(struct pfd_walk *w, struct state *st, uint64_t id)
{
    st->is_lost = true;
    st->from = w->at;
    st->lost_id = id;
    st->next = w->at + st->number[RING_ALIGN];
}

static void report_loss(struct pfd_walk *w, const struct state *st)
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

static enum pfd_status finish(struct pfd_walk *w, struct state *st)
{
    uint64_t left = st->end > w->at ? st->end - w->at : 0;
    if (left && !w->last && st->end > pfd_walk_end(w))
        return PFD_MORE;
    if (left && is_unwritten(w, st, w->at)) {
        st->held = w->at;
    } else if (left) {
        pfd_walk_finding(w, PFD_FINDING_stray_dword, w->at,
                         "%llu bytes are left, no room for an entry's header",
                         (unsigned long long)left);
        w->batch->skipped_bytes += left;
    }
    if (pfd_walk_end(w) > w->at)
        w->at = pfd_walk_end(w);
    st->end = w->at;
    if (!w->last)
        return PFD_MORE;
    report_loss(w, st);
    return PFD_END;
}

static enum pfd_status step(struct pfd_walk *w, struct state *st)
{
    const uint64_t *v = st->number;
    uint64_t unit = v[RING_SLOT_BYTES] ? v[RING_SLOT_BYTES] : v[RING_HEADER];
    if (w->at >= st->end || st->end - w->at < unit)
        return finish(w, st);
    if (!sees_enough(w, st, w->at))
        return PFD_MORE;
    uint64_t next = pfd_walk_pass(w, w->at, st->end);
    if (next > w->at && !v[RING_SLOT_BYTES]) {
        pfd_walk_report_hole(w, w->at, next);
        w->at = next;
        return PFD_OK;
    }
    struct entry e = look(w, st, w->at);
    if (v[RING_SLOT_BYTES] && e.id == v[RING_SLOT_EMPTY]) {
        w->at += e.n;
        return PFD_OK;
    }
    bool is_zero_entry = !e.id && !e.string && !v[RING_SLOT_BYTES];
    if (!e.n || e.n > st->end - w->at || is_zero_entry) {
        lose_way(w, st, e.id);
        return PFD_OK;
    }
    if (w->at + e.n > pfd_walk_end(w))
        return PFD_MORE;
    add_entry(w, st, &e);
    return PFD_OK;
}

static enum pfd_status described_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    enum pfd_status status = st->is_open ? PFD_OK : begin(w, st);
    if (st->is_open && w->last && st->end > pfd_walk_end(w))
        st->end = pfd_walk_end(w);
    while (status == PFD_OK && pfd_walk_has_room(w))
        status = st->is_lost ? find_way(w, st) : step(w, st);
    return status;
}

static bool described_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    const struct pfd_string *s = r->string;
    size_t n = pfd_byte_reader_left(&record_view->bytes);
    bool is_made = r->flags & PFD_RECORD_SYNTHESIZED;
    if (r->n_header > RING_HEADER_MAX || r->layout > 1 || r->key == RING_KEY ||
        r->flags & ~(PFD_RECORD_SYNTHESIZED | PFD_RECORD_COPIED))
        return false;
    if (!s)
        return !is_made && !r->layout;
    return s->key == r->key && is_made == !!(s->flags & PFD_STRING_OWN) &&
           (is_made || r->layout || n >= s->n_payload);
}

const struct pfd_format pfd_format_described = {
    .info = {
        .name = "described",
        .title = "a ring of your own, by a description (--describe FILE)",
    },
    .state_size = sizeof(struct state),
    .record_version = 1,
    .strings = { .name = "described", .layout = described_layout },
    .is_description = described_is_description,
    .describe = described_describe,
    .walk = described_walk,
    .is_record = described_is_record,
    .slots = described_slots,
    .make = described_make,
};
