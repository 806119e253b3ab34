/* SPDX-License-Identifier: MIT */
#include "stream/live/tail_pass.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/large_pages.h"
#include "core/decode/entry_run.h"

enum {
    ROOM_FIRST = 1 << 16, /* bytes */
    ROOM_KEPT = 1 << 17,  /* larger memory is freed after a burst */
};

void pfd_tail_copy_drop(struct pfd_tail_copy *copy)
{
    free(copy->bytes);
    *copy = (struct pfd_tail_copy){ 0 };
}

/* Makes room for n bytes; the old bytes are lost. With large pages there is
 * room for the largest poll: untouched pages cost nothing. */
static bool make_room(struct pfd_tail_copy *copy, size_t n, size_t farther)
{
    if (copy->room >= n)
        return true;
    size_t room = copy->room ? copy->room : ROOM_FIRST;
    while (room < n)
        room *= 2;
    if (room > PFD_LARGE_PAGE && n <= farther)
        room = farther;
    free(copy->bytes);
    copy->bytes = pfd_large_pages_new(room);
    copy->room = copy->bytes ? room : 0;
    return copy->bytes;
}

void pfd_tail_copy_shrink(struct pfd_tail_copy *copy)
{
    if (copy->room > ROOM_KEPT)
        pfd_tail_copy_drop(copy);
}

enum pfd_status pfd_tail_copy_read(struct pfd_tail_copy *copy,
                                   const struct pfd_tail_options *source,
                                   uint64_t from, size_t n,
                                   struct pfd_error *err)
{
    copy->base = from;
    copy->n = 0;
    if (n == 0)
        return PFD_OK;
    if (!make_room(copy, n, source->farther))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    while (copy->n < n) {
        long got = source->read(source->read_user, from + copy->n,
                                copy->bytes + copy->n, n - copy->n);
        if (got < 0) {
            return pfd_fail(err, PFD_ERR_IO, from + copy->n, "%s",
                            strerror((int)-got));
        }
        if (got == 0)
            break;
        copy->n += (size_t)got;
    }
    return PFD_OK;
}

size_t pfd_tail_used_bytes(const struct pfd_tail *t)
{
    return t->shape.n_counter ? t->shape.n_counter : t->shape.n_header;
}

enum pfd_status pfd_tail_read_used(const struct pfd_tail *t,
                                   struct pfd_tail_copy *copy,
                                   struct pfd_error *err)
{
    struct pfd_tail_options source = t->o;
    if (t->shape.n_counter) {
        source.read = t->counter.read;
        source.read_user = t->counter.user;
    }
    return pfd_tail_copy_read(copy, &source, 0, pfd_tail_used_bytes(t), err);
}

enum {
    /* Bytes from before the tail attached that may yet be written anew. */
    ATTACHED_CHECK = 256 * 1024,
};

void pfd_tail_emit_finding(struct pfd_tail *t,
                           const struct pfd_finding *finding)
{
    struct pfd_tail_item item = {
        .finding = finding,
        .generation = t->place.generation,
    };
    t->summary.findings += !pfd_finding_is_note(finding->kind);
    t->o.item(t->o.item_user, &item);
}

void PFD_PRINTF(4, 5)
    pfd_tail_say(struct pfd_tail *t, enum pfd_finding_kind kind,
                 uint64_t offset, const char *text, ...)
{
    va_list ap;
    struct pfd_finding finding = {
        .kind = kind,
        .offset = offset,
        .index = PFD_NO_INDEX,
        .in_buffer = true,
        .source = t->source,
        .text = t->sentence,
    };
    va_start(ap, text);
    vsnprintf(t->sentence, sizeof t->sentence, text, ap);
    va_end(ap);
    pfd_tail_emit_finding(t, &finding);
}

bool pfd_tail_emit(struct pfd_tail *t, const struct pfd_record *r,
                   uint64_t base, uint64_t offset, uint64_t more_findings)
{
    uint32_t n = 0;
    struct pfd_entry entry;
    const uint8_t *payload =
        pfd_record_batch_payload(&t->batch, &t->walk.view, base, r, &n);
    if (!pfd_entry_make(&t->of, r, payload, n, t->place.index, &entry))
        return false;
    entry.offset = offset;
    entry.findings |= more_findings;
    t->place.index++;
    t->summary.entries++;
    t->summary.unknown += pfd_record_is_unknown(r);
    t->summary.bytes += r->n_bytes;
    for (uint64_t left = entry.findings; left; left &= left - 1) {
        if (!pfd_finding_is_note((enum pfd_finding_kind)__builtin_ctzll(left)))
            t->summary.findings++;
    }
    struct pfd_tail_item item = {
        .is_entry = true,
        .entry = &entry,
        .generation = t->place.generation,
    };
    t->o.item(t->o.item_user, &item);
    return true;
}

static bool emit_entry(struct pfd_tail *t, const struct pfd_record *r,
                       const struct pfd_tail_copy *copy, uint64_t more_findings)
{
    if (!pfd_tail_emit(t, r, copy->base, r->offset, more_findings))
        return false;
    return pfd_tail_image_put_entry(&t->image, r->offset,
                                    copy->bytes + (r->offset - copy->base),
                                    r->n_bytes);
}

/* Do both copies have the same bytes for this record? */
static bool is_same(const struct pfd_tail_copy *a,
                    const struct pfd_tail_copy *b, const struct pfd_record *r)
{
    return r->offset >= b->base && r->offset + r->n_bytes <= b->base + b->n &&
           !memcmp(b->bytes + (r->offset - b->base),
                   a->bytes + (r->offset - a->base), r->n_bytes);
}

static bool stood_still(const struct pfd_tail_pass *p,
                        const struct pfd_record *r)
{
    return is_same(p->copy, p->other, r) ||
           (p->third && is_same(p->copy, p->third, r));
}

/*
 * Does a dword of the payload read as it did before the entry was reserved?
 * Where stores queue up on their way from the device, they arrive many
 * milliseconds after the header, on an H200 up to 70, and with 270,000 threads
 * up to 400.
 */
static bool may_be_unwritten(const struct pfd_tail *t,
                             const struct pfd_tail_copy *copy,
                             const struct pfd_record *r)
{
    uint64_t at = r->offset + r->n_header;
    for (; at + 4 <= r->offset + r->n_bytes; at += 4) {
        const uint8_t *bytes = copy->bytes + (at - copy->base);
        uint32_t word;
        memcpy(&word, bytes, sizeof word);
        bool was_zero = !t->place.has_leftovers || at >= t->image.n;
        if (was_zero ? !word : pfd_tail_image_is(&t->image, at, bytes, 4))
            return true;
    }
    return false;
}

static struct pfd_tail_hole make_hole(const struct pfd_tail_copy *copy,
                                      uint64_t from, uint64_t to)
{
    struct pfd_tail_hole hole = {
        .from = from,
        .to = to,
        .crc = pfd_crc32c(0, copy->bytes + (from - copy->base),
                          (size_t)(to - from)),
    };
    return hole;
}

/* Adds a hole. Adjacent ranges become one hole, since new entries need not
 * begin where the old ones began. */
static bool add_hole(struct pfd_tail *t, const struct pfd_tail_copy *copy,
                     uint64_t from, uint64_t to)
{
    struct pfd_tail_hole *before = pfd_tail_holes_ending(&t->holes, from);
    if (before && to - before->from <= PFD_TAIL_HOLE_MAX) {
        before->to = to;
        before->crc = pfd_crc32c(before->crc, copy->bytes + (from - copy->base),
                                 (size_t)(to - from));
        return true;
    }
    while (from < to) {
        uint64_t n =
            to - from < PFD_TAIL_HOLE_MAX ? to - from : PFD_TAIL_HOLE_MAX;
        struct pfd_tail_hole hole = make_hole(copy, from, from + n);
        if (!pfd_tail_holes_add(&t->holes, &hole))
            return false;
        from += n;
    }
    return true;
}

/* Gives up the bytes between two entries. */
static bool close_gap(struct pfd_tail *t, struct pfd_tail_pass *p, uint64_t to)
{
    if (!p->in_gap)
        return true;
    uint64_t from = p->gap.offset;
    p->in_gap = false;
    if (p->is_hole) {
        p->left[p->n_left++] = make_hole(p->copy, from, to);
        return true;
    }
    pfd_tail_emit_finding(t, &p->gap);
    t->summary.skipped_bytes += to - from;
    t->place.at = to;
    t->place.doubtful = to;
    return add_hole(t, p->copy, from, to) &&
           pfd_tail_image_put(&t->image, from,
                              p->copy->bytes + (from - p->copy->base),
                              (size_t)(to - from));
}

static void open_quiet_gap(struct pfd_tail_pass *p, uint64_t from)
{
    if (!p->in_gap)
        p->gap.offset = from;
    p->in_gap = true;
}

static void open_gap(struct pfd_tail *t, struct pfd_tail_pass *p,
                     const struct pfd_record *r)
{
    if (p->is_hole) {
        open_quiet_gap(p, r->offset);
        return;
    }
    p->failed |= !close_gap(t, p, r->offset);
    p->in_gap = true;
    p->gap = pfd_record_batch_finding(&t->batch, r, t->source, t->gap_sentence,
                                      sizeof t->gap_sentence);
}

/* Perhaps this was not written since the buffer began anew: all of it, or all
 * but its header, equals the old bytes. */
static bool is_stale(const struct pfd_tail *t, const struct pfd_tail_pass *p,
                     const struct pfd_record *r)
{
    const uint8_t *bytes = p->copy->bytes + (r->offset - p->copy->base);
    size_t n = r->n_bytes;
    size_t skip = n > r->n_header ? r->n_header : 0;
    return t->place.has_leftovers &&
           pfd_tail_image_is(&t->image, r->offset + skip, bytes + skip,
                             n - skip);
}

/* Behind a possible leftover stands a header that was there before: a leftover
 * whose end was overwritten reads like that. */
static bool is_behind_stale(const struct pfd_tail *t,
                            const struct pfd_tail_pass *p,
                            const struct pfd_record *r)
{
    return t->place.has_leftovers && t->place.doubtful == r->offset &&
           pfd_tail_image_is(&t->image, r->offset,
                             p->copy->bytes + (r->offset - p->copy->base),
                             r->n_header);
}

/* An entry from before the tail attached: old and new ones look the same. */
static bool is_attached(const struct pfd_tail *t, const struct pfd_record *r)
{
    return r->offset + r->n_bytes <= t->place.attached &&
           r->offset + ATTACHED_CHECK >= t->place.attached;
}

/* Takes one record of a hole. An emitted entry that still stands there is
 * ignored. */
static bool take_late(struct pfd_tail *t, struct pfd_tail_pass *p,
                      const struct pfd_record *r)
{
    uint64_t findings = PFD_FINDING_BIT(late);
    bool is_sure = r->flags & PFD_RECORD_SURE;
    bool doubt = pfd_record_is_unknown(r) || r->findings ||
                 (t->last_poll.is_saturated && !is_sure && !p->is_final &&
                  may_be_unwritten(t, p->copy, r));
    bool same = pfd_tail_image_is(&t->image, r->offset,
                                  p->copy->bytes + (r->offset - p->copy->base),
                                  r->n_bytes);
    bool known = same && pfd_tail_image_has_entry(&t->image, r->offset);
    if (known || (doubt && (same || !p->is_final))) {
        p->has_doubts |= !same;
        open_quiet_gap(p, r->offset);
        return true;
    }
    if (same && t->place.has_leftovers && !is_sure)
        findings |= PFD_FINDING_BIT(stale);
    p->failed |= !close_gap(t, p, r->offset);
    uint64_t skipped = t->summary.skipped_bytes;
    t->summary.skipped_bytes -= skipped < r->n_bytes ? skipped : r->n_bytes;
    p->failed |= !emit_entry(t, r, p->copy, findings);
    if (p->n_left < PFD_TAIL_LEFT_MAX - 1)
        return true;
    p->rest = r->offset + r->n_bytes;
    return false;
}

/* Takes one record of the walk; false: it is not settled, stop before it. */
static bool take(struct pfd_tail *t, struct pfd_tail_pass *p,
                 const struct pfd_record *r)
{
    bool is_settled = r->offset < p->settled;
    bool is_sure = r->flags & PFD_RECORD_SURE;
    bool is_gap = r->kind != PFD_RECORD_ENTRY;
    if (t->of.table->has_committed && (is_gap || pfd_record_is_unknown(r)))
        is_settled = r->offset < p->patient;
    if (is_gap) {
        if (is_settled)
            open_gap(t, p, r);
        return is_settled;
    }
    if (p->is_hole)
        return take_late(t, p, r);
    bool is_still = is_sure || r->offset < p->hard || stood_still(p, r);
    if (!is_still && !p->is_over)
        return false;
    if (t->last_poll.is_saturated && !is_sure && r->offset >= p->hard &&
        may_be_unwritten(t, p->copy, r)) {
        if (!p->is_over) {
            t->block.unwritten = r->offset;
            t->block.n_unwritten = r->n_bytes;
            return false;
        }
        /* It may have been written since it was last read. */
        is_still = p->third && is_same(p->copy, p->third, r);
    }
    bool stale = !is_sure && is_stale(t, p, r);
    bool doubt = stale || (!is_sure && is_attached(t, r));
    if (!is_settled && (pfd_record_is_unknown(r) || r->findings || doubt))
        return false;
    p->failed |= !close_gap(t, p, r->offset);
    t->place.at = r->offset + r->n_bytes;
    if (!is_still) {
        p->lost += r->n_bytes;
        return true;
    }
    doubt |= !is_sure && is_behind_stale(t, p, r);
    p->failed |= !emit_entry(t, r, p->copy, stale ? PFD_FINDING_BIT(stale) : 0);
    if (doubt)
        p->failed |= !add_hole(t, p->copy, r->offset, t->place.at);
    if (stale)
        t->place.doubtful = t->place.at;
    return true;
}

/* ---- runs ---- */

uint64_t pfd_tail_same_until(const struct pfd_tail_copy *a,
                             const struct pfd_tail_copy *b, uint64_t from,
                             uint64_t to)
{
    enum {
        BLOCK = 256
    };
    uint64_t end = b->base + b->n < to ? b->base + b->n : to;
    if (from < b->base)
        return from;
    while (from < end) {
        size_t n = end - from < BLOCK ? (size_t)(end - from) : BLOCK;
        const uint8_t *at = a->bytes + (from - a->base);
        if (memcmp(at, b->bytes + (from - b->base), n) != 0)
            break;
        from += n;
    }
    return from;
}

bool pfd_tail_pass_has_runs(const struct pfd_tail *t,
                            const struct pfd_tail_pass *p, uint64_t at)
{
    return t->runs.run && !p->is_hole && !p->in_gap &&
           !t->place.has_leftovers && at >= t->place.attached;
}

size_t pfd_tail_pass_count(const struct pfd_tail *t,
                           const struct pfd_tail_pass *p,
                           const struct pfd_record *r, size_t n, uint64_t same)
{
    uint64_t at = r->offset;
    size_t ret = 0;
    for (; ret < n; ret++, r++) {
        bool is_sure = r->flags & PFD_RECORD_SURE || r->offset < p->hard;
        bool is_still = is_sure || r->offset + r->n_bytes <= same;
        if (!pfd_entry_run_takes(r) || r->offset != at || !is_still ||
            (t->last_poll.is_saturated && !is_sure &&
             may_be_unwritten(t, p->copy, r)))
            break;
        at += r->n_bytes;
    }
    return ret;
}

/* How many records from index i on are a run, if there are several. Where bytes
 * have to be unchanged, the last few may be left for take(). */
static size_t count_run(const struct pfd_tail *t, struct pfd_tail_pass *p,
                        size_t i)
{
    const struct pfd_record_batch *batch = &t->batch;
    const struct pfd_record *r = &batch->records[i];
    const struct pfd_record *last = &batch->records[batch->n - 1];
    if (!pfd_tail_pass_has_runs(t, p, r->offset) || !pfd_entry_run_takes(r))
        return 0;
    if (r->offset >= p->same) {
        p->same = pfd_tail_same_until(p->copy, p->other, r->offset,
                                      last->offset + last->n_bytes);
    }
    return pfd_tail_pass_count(t, p, r, batch->n - i, p->same);
}

bool pfd_tail_pass_take_run(struct pfd_tail *t, const struct pfd_tail_pass *p,
                            const struct pfd_record *r, size_t n,
                            struct pfd_entry_run *ret)
{
    *ret = (struct pfd_entry_run){
        .of = &t->of,
        .records = r,
        .n = n,
        .bytes = p->copy->bytes + (r->offset - p->copy->base),
        .index = t->place.index,
    };
    uint64_t n_bytes = pfd_entry_run_bytes(ret);
    t->place.index += n;
    t->place.at = r->offset + n_bytes;
    t->summary.entries += n;
    t->summary.bytes += n_bytes;
    if (!pfd_tail_image_put(&t->image, r->offset, ret->bytes, (size_t)n_bytes))
        return false;
    for (; n && r->offset < t->image.n; n--, r++)
        pfd_tail_image_mark(&t->image, r->offset);
    return true;
}

static bool emit_run(struct pfd_tail *t, const struct pfd_tail_pass *p,
                     const struct pfd_record *r, size_t n)
{
    struct pfd_entry_run entry_run;
    bool ret = pfd_tail_pass_take_run(t, p, r, n, &entry_run);
    t->runs.run(t->o.item_user, &entry_run, t->place.generation);
    return ret;
}

/* Takes the records of one step of the walk; false: the rest is not settled. */
static bool take_batch(struct pfd_tail *t, struct pfd_tail_pass *p)
{
    for (size_t i = 0; i < t->batch.n && !p->failed;) {
        const struct pfd_record *r = &t->batch.records[i];
        size_t n = count_run(t, p, i);
        if (n > 1) {
            p->failed |= !emit_run(t, p, r, n);
            i += n;
        } else if (take(t, p, r)) {
            i += 1u + r->n_alternatives;
        } else {
            return false;
        }
    }
    return true;
}

/*
 * Gives up the copy: the walk needs more than the copy has, and made no
 * progress. So nothing here can be read, and there is more of it than one poll
 * may read.
 */
static void give_up_copy(struct pfd_tail *t, struct pfd_tail_pass *p)
{
    struct pfd_finding gap = {
        .kind = PFD_FINDING_unwritten,
        .offset = t->place.at,
        .index = PFD_NO_INDEX,
        .in_buffer = true,
        .source = t->source,
        .text = "nothing that can be read for as far as one look reaches",
    };
    p->gap = gap;
    p->in_gap = true;
    p->failed |= !close_gap(t, p, t->walk.at);
}

bool pfd_tail_pass_walk(struct pfd_tail *t, struct pfd_tail_pass *p,
                        uint64_t until)
{
    struct pfd_walk *w = &t->walk;
    w->until = until;
    while (p->status == PFD_OK && !p->is_stopped && !p->failed &&
           !(until && w->at >= until)) {
        pfd_record_batch_clear(&t->batch);
        p->status = t->format->walk(w);
        /* Records may then be without their bytes. */
        p->failed |= t->batch.text.failed || t->batch.bytes.failed;
        p->is_stopped = p->failed || !take_batch(t, p);
    }
    w->until = 0;
    return p->status == PFD_OK && !p->is_stopped && !p->failed;
}

void pfd_tail_pass_run(struct pfd_tail *t, struct pfd_tail_pass *p,
                       uint64_t from)
{
    struct pfd_walk *w = &t->walk;
    uint64_t at = t->place.at;
    uint64_t n = p->end - p->copy->base;
    size_t n_copy = p->most && p->most < p->copy->n ? p->most : p->copy->n;
    bool whole = n <= n_copy && !p->is_arriving;

    if (from >= p->end || from < p->copy->base)
        return;
    memset(w->state, 0, t->format->state_size);
    w->view = pfd_byte_reader(p->copy->bytes, n < n_copy ? (size_t)n : n_copy);
    w->base = p->copy->base;
    w->last = whole;
    w->at = from;
    if (from > pfd_walk_end(w))
        return;
    t->format->live->resume(w, p->is_arriving ? t->place.used : p->end);
    if (t->walk_ahead)
        t->walk_ahead(t, p);
    pfd_tail_pass_walk(t, p, 0);
    if (p->failed || p->is_stopped)
        return;
    if (whole) {
        p->failed |= !close_gap(t, p, p->end);
    } else if (!p->is_hole && t->place.at == at && w->at > at &&
               w->at <= p->settled && n_copy == t->o.window) {
        give_up_copy(t, p);
    }
}
