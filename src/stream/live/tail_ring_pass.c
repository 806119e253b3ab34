/* SPDX-License-Identifier: MIT */
/* One pass over a ring that begins anew at its end: emits settled entries. */
#include <string.h>

#include "stream/live/tail_ring.h"

/* The position of a byte of the buffer. */
static uint64_t position(const struct pfd_tail *t,
                         const struct pfd_tail_ring_pass *p, uint64_t offset)
{
    const struct pfd_live_ring *is = &t->ring.is;
    uint64_t place = (offset - is->data) % is->capacity;
    uint64_t from = p->from % is->capacity;
    return p->from + (place + is->capacity - from) % is->capacity;
}

static void close_gap(struct pfd_tail *t, struct pfd_tail_ring_pass *p,
                      uint64_t to)
{
    if (!p->in_gap)
        return;
    bool is_lost = p->gap.kind == PFD_FINDING_overflow;
    *(is_lost ? &t->summary.lost_bytes : &t->summary.skipped_bytes) +=
        to - p->gap_at;
    pfd_tail_emit_finding(t, &p->gap);
    p->in_gap = false;
    t->place.at = to;
}

/* How much of an entry stands where the lap before has left the same. */
enum old {
    OLD_NOT,
    OLD_PAYLOAD,
    OLD_ALL,
};

static enum old how_old(const struct pfd_tail *t, const struct pfd_record *r,
                        uint64_t at)
{
    uint64_t payload = at + (r->n_bytes > r->n_header ? r->n_header : 0);
    if (!pfd_tail_ring_is_old(t, payload, at + r->n_bytes))
        return OLD_NOT;
    return pfd_tail_ring_is_old(t, at, payload) ? OLD_ALL : OLD_PAYLOAD;
}

/* Would what waits be written over soon? */
static bool is_late(const struct pfd_tail *t,
                    const struct pfd_tail_ring_pass *p, uint64_t at)
{
    return p->to - at > t->ring.is.capacity / 2;
}

static void note_memo(struct pfd_tail *t, const struct pfd_record *r)
{
    if (t->format->live->memo)
        t->ring.is.memo = t->format->live->memo(&t->walk, r);
}

/* Takes a record; false: it is not settled. */
static bool take(struct pfd_tail *t, struct pfd_tail_ring_pass *p,
                 const struct pfd_record *r)
{
    uint64_t at = position(t, p, r->offset);
    bool is_entry = r->kind == PFD_RECORD_ENTRY;
    bool is_doubtful = !is_entry || pfd_record_is_unknown(r) || r->findings;
    enum old old =
        is_entry && !t->ring.is.is_whole ? how_old(t, r, at) : OLD_NOT;
    is_doubtful |= old != OLD_NOT && !is_late(t, p, at);
    bool is_cut = t->ring.is_cut && !is_entry && at == p->from;
    bool is_still = !is_entry || p->is_final ||
                    pfd_tail_ring_is_same(t, at, at + r->n_bytes);
    close_gap(t, p, at);
    if (!is_still || (is_doubtful && !is_cut && at >= p->settled))
        return false;
    if (is_entry) {
        uint64_t offset = t->ring.is.grows ? t->ring.is.data + at : r->offset;
        uint64_t findings = old == OLD_ALL ? PFD_FINDING_BIT(stale) : 0;
        p->failed |= !pfd_tail_emit(t, r, 0, offset, findings);
        t->place.at = at + r->n_bytes;
        note_memo(t, r);
    } else {
        if (t->ring.is.memo)
            t->ring.is.memo = UINT64_MAX;
        p->in_gap = true;
        p->gap_at = at;
        p->gap = pfd_record_batch_finding(
            &t->batch, r, t->source, t->gap_sentence, sizeof t->gap_sentence);
    }
    t->ring.is_cut = false;
    return true;
}

void pfd_tail_ring_pass_run(struct pfd_tail *t, struct pfd_tail_ring_pass *p)
{
    struct pfd_walk *w = &t->walk;
    enum pfd_status status = PFD_OK;
    memset(w->state, 0, t->format->state_size);
    w->view = pfd_byte_reader(t->now.bytes, t->now.n);
    w->base = w->at = 0;
    w->last = true;
    t->format->live->resume_ring(w, &t->ring.is, p->from, p->to - p->from,
                                 t->ring.is_cut);
    while (status == PFD_OK && !p->failed) {
        pfd_record_batch_clear(&t->batch);
        status = t->format->walk(w);
        /* Records may then be without their bytes. */
        p->failed |= t->batch.text.failed || t->batch.bytes.failed;
        for (size_t i = 0; i < t->batch.n && !p->failed;
             i += 1u + t->batch.records[i].n_alternatives) {
            if (!take(t, p, &t->batch.records[i]))
                return;
        }
    }
    if (p->failed)
        return;
    close_gap(t, p, p->to);
    note_memo(t, NULL);
    t->place.at = p->to;
}
