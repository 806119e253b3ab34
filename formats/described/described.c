/* SPDX-License-Identifier: MIT */
/*
 * Rings of applications, which a description describes: docs/describe.md.
 */
#include "walk.h"

static enum pfd_status finish(struct pfd_walk *w, struct ring *st)
{
    uint64_t left = st->end > w->at ? st->end - w->at : 0;
    if (left && !w->last && st->end > pfd_walk_end(w))
        return PFD_MORE;
    if (left && ring_is_unwritten(w, st, w->at)) {
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
    ring_report_loss(w, st);
    return PFD_END;
}

static enum pfd_status step(struct pfd_walk *w, struct ring *st)
{
    const uint64_t *v = st->number;
    uint64_t unit = v[RING_SLOT_BYTES] ? v[RING_SLOT_BYTES] : v[RING_HEADER];
    if (w->at >= st->end || st->end - w->at < unit)
        return finish(w, st);
    if (!ring_sees_enough(w, st, w->at))
        return PFD_MORE;
    uint64_t next = pfd_walk_pass(w, w->at, st->end);
    if (next > w->at && !v[RING_SLOT_BYTES]) {
        pfd_walk_report_hole(w, w->at, next);
        w->at = next;
        return PFD_OK;
    }
    struct ring_entry e = ring_look(w, st, w->at);
    if (v[RING_SLOT_BYTES] && e.id == v[RING_SLOT_EMPTY]) {
        w->at += e.n;
        return PFD_OK;
    }
    bool is_zero_entry = !e.id && !e.string && !v[RING_SLOT_BYTES];
    if (!e.n || e.n > st->end - w->at || is_zero_entry) {
        ring_lose_way(w, st, e.id);
        return PFD_OK;
    }
    if (w->at + e.n > pfd_walk_end(w))
        return PFD_MORE;
    ring_add_entry(w, st, &e);
    return PFD_OK;
}

static enum pfd_status described_walk(struct pfd_walk *w)
{
    struct ring *st = w->state;
    enum pfd_status status = st->is_open ? PFD_OK : ring_begin(w, st);
    if (st->is_open && w->last && st->end > pfd_walk_end(w))
        st->end = pfd_walk_end(w);
    while (status == PFD_OK && pfd_walk_has_room(w))
        status = st->is_lost ? ring_find_way(w, st) : step(w, st);
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
    .state_size = sizeof(struct ring),
    .record_version = 1,
    .strings = { .name = "described", .layout = described_layout },
    .is_description = described_is_description,
    .describe = described_describe,
    .walk = described_walk,
    .is_record = described_is_record,
    .slots = described_slots,
    .make = described_make,
};
