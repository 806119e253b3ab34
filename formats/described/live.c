/* SPDX-License-Identifier: MIT */
#include "live.h"

#include "walk.h"

enum {
    /* Bytes before the first entry, which each look reads. */
    HEADER_MAX = 1 << 16,
};

static bool live_shape(const struct pfd_table *table,
                       struct pfd_live_shape *ret)
{
    const struct pfd_string *row = pfd_table_find(table, RING_KEY);
    if (!row || row->n_layout < RING_NUMBERS)
        return false;
    const uint64_t *v = pfd_string_layout(row);
    uint64_t end = v[RING_COUNTER] +
                   (v[RING_COUNTER_SHIFT] + v[RING_COUNTER_BITS] + 7) / 8;
    bool is_elsewhere = v[RING_COUNTER_FILE];
    ret->is_ring = v[RING_WRITE_BITS] != 0;
    if (ret->is_ring) {
        ret->n_header = (uint32_t)ring_header(v);
        ret->n_counter = 0;
        ret->unit = 1;
        return ring_header(v) <= HEADER_MAX && !v[RING_LANES_BITS];
    }
    ret->n_header = (uint32_t)v[RING_DATA];
    ret->n_counter = is_elsewhere ? (uint32_t)end : 0;
    ret->unit =
        (uint32_t)(v[RING_SLOT_BYTES] ? v[RING_SLOT_BYTES] : v[RING_ALIGN]);
    return v[RING_COUNTER_BITS] && !v[RING_LANES_BITS] &&
           !v[RING_PROGRAM_BITS] && ring_header(v) <= v[RING_DATA] &&
           end <= HEADER_MAX && v[RING_DATA] <= HEADER_MAX;
}

static uint64_t live_used(const struct pfd_table *table, const uint8_t *header)
{
    const struct pfd_string *row = pfd_table_find(table, RING_KEY);
    const uint64_t *v = pfd_string_layout(row);
    return ring_wanted(v, described_field(header, v + RING_COUNTER));
}

static uint64_t live_room(const struct pfd_table *table, const uint8_t *header,
                          uint64_t n_buffer)
{
    const struct pfd_string *row = pfd_table_find(table, RING_KEY);
    const uint64_t *v = pfd_string_layout(row);
    uint64_t limit = ring_limit(v, described_field(header, v + RING_CAPACITY));
    return limit < n_buffer ? limit : n_buffer;
}

static void live_resume(struct pfd_walk *w, uint64_t end)
{
    struct ring *st = w->state;
    const struct pfd_string *row = pfd_table_find(w->table, RING_KEY);
    memcpy(st->number, pfd_string_layout(row), sizeof st->number);
    st->is_open = true;
    st->limit = st->fold = UINT64_MAX;
    st->at = w->at;
    st->end = st->wanted = end;
}

static struct pfd_live_ring live_ring(const struct pfd_table *table,
                                      const uint8_t *header, uint64_t n_buffer)
{
    const struct pfd_string *row = pfd_table_find(table, RING_KEY);
    const uint64_t *v = pfd_string_layout(row);
    struct ring_fields fields = {
        .write = described_field(header, v + RING_WRITE),
        .read = described_field(header, v + RING_READ),
        .stall = described_field(header, v + RING_STALL),
    };
    uint64_t n =
        ring_capacity(v, described_field(header, v + RING_CAPACITY), n_buffer);
    return ring_positions(v, &fields, n);
}

static void live_resume_ring(struct pfd_walk *w, const struct pfd_live_ring *is,
                             uint64_t from, uint64_t n, bool is_cut)
{
    struct ring *st = w->state;
    const struct pfd_string *row = pfd_table_find(w->table, RING_KEY);
    memcpy(st->number, pfd_string_layout(row), sizeof st->number);
    st->is_open = st->is_ring = true;
    st->limit = UINT64_MAX;
    st->capacity = is->capacity;
    st->fold = is->data + is->capacity;
    st->at = st->from = st->next = is->data + from % is->capacity;
    st->end = st->wanted = st->at + n;
    st->is_lost = is_cut;
    if (ring_has(st, RING_PROGRAM) && is->memo) {
        st->n_own = is->memo & 1;
        st->program = is_cut || is->memo == UINT64_MAX
                          ? PROGRAM_UNKNOWN
                          : (uint32_t)(is->memo >> 1);
    }
    st->why = is_cut ? "begins in what was written over" : NULL;
}

/* Its program, and whether that has entries. */
static uint64_t live_memo(const struct pfd_walk *w, const struct pfd_record *r)
{
    const struct ring *st = w->state;
    if (!ring_has(st, RING_PROGRAM))
        return 0;
    return r ? r->key >> 32 << 1 | 1
             : (uint64_t)st->program << 1 | (st->n_own != 0);
}

const struct pfd_format_live described_live = {
    .unit = 1,
    .shape = live_shape,
    .used = live_used,
    .room = live_room,
    .resume = live_resume,
    .ring = live_ring,
    .resume_ring = live_resume_ring,
    .memo = live_memo,
};
