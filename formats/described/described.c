/* SPDX-License-Identifier: MIT */
/*
 * Rings of applications, which a description describes: docs/describe.md.
 */
#include "brace_text.h"
#include "live.h"
#include "origins.h"
#include "string_rule.h"
#include "walk.h"

/* Slots that calls asked for, and that are free. */
static void report_free(struct pfd_walk *w, struct ring *st)
{
    if (!st->n_free)
        return;
    w->batch->skipped_bytes += st->n_free;
    pfd_walk_finding(w, PFD_FINDING_unwritten, st->at - st->n_free,
                     "%llu bytes of slots, up to byte %llu, were asked for and "
                     "are free",
                     (unsigned long long)st->n_free,
                     (unsigned long long)st->at);
    st->n_free = 0;
}

static void pass(struct ring *st, const struct ring_entry *e)
{
    bool is_slot = st->number[RING_SLOT_BYTES] != 0;
    st->at += e->n;
    /* Programs are counted that have entries. */
    if (e->kind == RING_OTHER && st->n_own && st->program != PROGRAM_UNKNOWN) {
        st->program++;
        st->n_own = 0;
    }
    if (is_slot && st->wanted != UINT64_MAX)
        st->n_free += e->n;
}

static enum pfd_status finish(struct pfd_walk *w, struct ring *st)
{
    uint64_t left = st->end > st->at ? st->end - st->at : 0;
    report_free(w, st);
    if (left && !w->last && st->end > pfd_walk_end(w))
        return PFD_MORE;
    if (left && (ring_is_unwritten(w, st, st->at) ||
                 ring_is_full_at(w, st, st->at, left))) {
        st->held = st->at;
    } else if (left) {
        pfd_walk_finding(w, PFD_FINDING_stray_dword, ring_place(st, st->at),
                         "%llu bytes are left, no room for an entry's header",
                         (unsigned long long)left);
        w->batch->skipped_bytes += left;
    }
    ring_look_behind(w, st);
    if (!w->last) {
        st->at = pfd_walk_end(w);
        st->end = st->at;
        return PFD_MORE;
    }
    ring_report_loss(w, st);
    ring_report_behind(w, st);
    w->at = pfd_walk_end(w);
    return PFD_END;
}

/* The rest of a ring's end, where no entry fits before it begins anew. */
static bool is_end_of_ring(const struct ring *st)
{
    return ring_has(st, RING_WRAP) && st->at < st->fold &&
           st->fold - st->at < st->number[RING_HEADER];
}

static enum pfd_status step(struct pfd_walk *w, struct ring *st)
{
    const uint64_t *v = st->number;
    uint64_t unit = v[RING_SLOT_BYTES] ? v[RING_SLOT_BYTES] : v[RING_HEADER];
    if (st->at >= st->end || st->end - st->at < unit)
        return finish(w, st);
    if (!ring_sees_enough(w, st, st->at))
        return PFD_MORE;
    uint64_t next = st->is_ring ? st->at : pfd_walk_pass(w, st->at, st->end);
    if (next > st->at && !v[RING_SLOT_BYTES]) {
        pfd_walk_report_hole(w, st->at, next);
        st->at = next;
        return PFD_OK;
    }
    if (is_end_of_ring(st)) {
        st->at = st->fold;
        return PFD_OK;
    }
    struct ring_entry e = ring_look(w, st, st->at);
    if (e.kind == RING_NONE) {
        st->held = st->end = st->at;
        return PFD_OK;
    }
    bool is_zero_entry = e.kind == RING_MESSAGE && !e.id && !e.string &&
                         !v[RING_SLOT_BYTES] &&
                         ((!ring_has(st, RING_TEXT) && !st->program) ||
                          ring_is_zero(w, st, st->at, v[RING_HEADER]));
    if (!e.n || e.n > st->end - st->at || is_zero_entry) {
        ring_lose_way(st, &e);
        return PFD_OK;
    }
    if (!st->is_ring && st->at + e.n > pfd_walk_end(w))
        return PFD_MORE;
    if (e.kind == RING_MESSAGE) {
        report_free(w, st);
        ring_add_entry(w, st, &e);
    } else {
        pass(st, &e);
    }
    return PFD_OK;
}

static enum pfd_status described_walk(struct pfd_walk *w)
{
    struct ring *st = w->state;
    enum pfd_status status = st->is_open ? PFD_OK : ring_begin(w, st);
    if (!st->is_open)
        return status;
    ring_look_at_view(w, st);
    if (w->last && !st->is_ring && st->end > pfd_walk_end(w))
        st->end = pfd_walk_end(w);
    while (status == PFD_OK && pfd_walk_has_room(w))
        status = st->is_lost ? ring_find_way(w, st) : step(w, st);
    if (status != PFD_END && !st->is_ring)
        w->at = st->at;
    return status;
}

static bool described_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    const struct pfd_string *s = r->string;
    size_t n = pfd_byte_reader_left(&record_view->bytes);
    bool is_made = r->flags & PFD_RECORD_SYNTHESIZED;
    if (r->n_header > RING_HEADER_MAX || r->layout > 1 ||
        r->key >= RESERVED_KEY ||
        r->flags & ~(PFD_RECORD_SYNTHESIZED | PFD_RECORD_COPIED))
        return false;
    if (!s)
        return is_made || !r->layout;
    return s->key == r->key && is_made == !!(described_facts(s) & FACT_TAGS) &&
           (is_made || r->layout || n >= s->n_payload);
}

static const struct pfd_format_description description = {
    .is = described_is_description,
    .load = described_describe,
    .reads_files = described_reads_files,
};

const struct pfd_format pfd_format_described = {
    .info = {
        .name = "described",
        .title = "a ring of your own, by a description (--describe FILE)",
    },
    .state_size = sizeof(struct ring),
    .record_version = 2,
    .strings = { .name = "described",
                 .own = &described_braces,
                 .argument_name = braces_argument_name,
                 .layout = described_layout },
    .description = &description,
    .load = described_load,
    .load_file = described_load_file,
    .shader = described_shader,
    .walk = described_walk,
    .live = &described_live,
    .is_record = described_is_record,
    .slots = described_slots,
    .make = described_make,
    .origins = { .list = described_origins, .names = described_origin_names, .flag = PFD_STRING_ORIGIN },
};
