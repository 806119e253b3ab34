/* SPDX-License-Identifier: MIT */
/* One entry of a described ring. */
#include "walk.h"

#define FINDING(kind) (UINT64_C(1) << PFD_FINDING_##kind)

/* A field of bits; the word is in view. */
static uint64_t field_of(const struct pfd_walk *w, const struct ring *st,
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

struct ring_entry ring_look(const struct pfd_walk *w, const struct ring *st,
                            uint64_t at)
{
    const uint64_t *v = st->number;
    struct ring_entry e = { .id = field_of(w, st, at, RING_ID_AT, RING_ID_BITS,
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
    e.n = ring_aligned(e.n, v[RING_SLOT_BYTES] ? 1 : v[RING_ALIGN]);
    return e;
}

void ring_add_entry(struct pfd_walk *w, const struct ring *st,
                    const struct ring_entry *e)
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
            ring_aligned(v[RING_HEADER] + e->string->n_payload, v[RING_ALIGN]) -
                v[RING_HEADER] + v[RING_ALIGN])
        r->findings |= FINDING(payload_long);
}
