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
    ret->n_header = (uint32_t)v[RING_DATA];
    ret->n_counter = is_elsewhere ? (uint32_t)end : 0;
    ret->unit =
        (uint32_t)(v[RING_SLOT_BYTES] ? v[RING_SLOT_BYTES] : v[RING_ALIGN]);
    return v[RING_COUNTER_BITS] && !v[RING_WRITE_BITS] && !v[RING_LANES_BITS] &&
           (is_elsewhere || end <= v[RING_DATA]) && end <= HEADER_MAX &&
           v[RING_DATA] <= HEADER_MAX;
}

static uint64_t live_used(const struct pfd_table *table, const uint8_t *header)
{
    const struct pfd_string *row = pfd_table_find(table, RING_KEY);
    const uint64_t *v = pfd_string_layout(row);
    return ring_wanted(v, described_field(header, v + RING_COUNTER));
}

static void live_resume(struct pfd_walk *w, uint64_t end)
{
    struct ring *st = w->state;
    const struct pfd_string *row = pfd_table_find(w->table, RING_KEY);
    memcpy(st->number, pfd_string_layout(row), sizeof st->number);
    st->is_open = true;
    st->capacity = st->fold = UINT64_MAX;
    st->at = w->at;
    st->end = st->wanted = end;
}

const struct pfd_format_live described_live = {
    .unit = 1,
    .shape = live_shape,
    .used = live_used,
    .resume = live_resume,
};
