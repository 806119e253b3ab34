/* SPDX-License-Identifier: MIT */
#include "core/base/error.h"
#include "core/base/zero.h"
#include "stream/live/tail_pass.h"

enum {
    CHECK_FIRST = 4096, /* bytes that each poll compares: the first ones, */
    CHECK_NEXT = 16384, /* and some of the others in turn */
    LEFTOVER_MAX = 1 << 20,
};

static enum pfd_status no_memory(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

void pfd_tail_generation_clear(struct pfd_tail *t)
{
    pfd_tail_image_forget_entries(&t->image);
    t->marks.n = 0;
    t->holes.n = 0;
    t->place.hole_at = 0;
    t->before.n = 0;
    t->place.at = t->shape.n_header;
    t->place.end = t->place.at;
    t->place.used = 0;
    t->place.lost = 0;
    t->place.index = 0;
    t->place.attached = 0;
    t->place.doubtful = 0;
    t->place.checked = 0;
}

void pfd_tail_report_overflow(struct pfd_tail *t)
{
    uint64_t lost =
        t->place.used > t->place.end ? t->place.used - t->place.end : 0;
    if (lost <= t->place.lost)
        return;
    t->summary.lost_bytes += lost - t->place.lost;
    t->place.lost = lost;
    pfd_tail_say(
        t, PFD_FINDING_overflow, t->place.end,
        "%llu bytes were written beyond the end of a buffer of %llu: a "
        "buffer of at least %llu bytes would have held everything",
        (unsigned long long)lost, (unsigned long long)t->place.n_buffer,
        (unsigned long long)t->place.used);
}

/*
 * The buffer is used anew. The old generation's bytes that were reserved and
 * not emitted were seen by the previous poll. An entry is emitted if the poll
 * before that one saw the same bytes, or if they still stand behind the new
 * generation's part; the rest is lost.
 */
enum pfd_status pfd_tail_generation_next(struct pfd_tail *t, const char *why,
                                         struct pfd_error *err)
{
    uint64_t from = t->before.base;
    uint64_t end = from + t->before.n;
    uint64_t lost = 0;
    if (end > t->place.at && t->before.n) {
        enum pfd_status status =
            pfd_tail_copy_read(&t->scratch, &t->o, from, t->before.n, err);
        if (status != PFD_OK)
            return status;
        struct pfd_tail_pass p = {
            .copy = &t->before,
            .other = &t->now,
            .third = &t->scratch,
            .end = end,
            .settled = end,
            .patient = end,
            .is_over = true,
        };
        pfd_tail_pass_run(t, &p, t->place.at);
        if (p.failed)
            return no_memory(err);
        lost = p.lost;
    }
    if (t->place.end > t->place.at)
        lost += t->place.end - t->place.at;
    t->summary.skipped_bytes += lost;
    if (!pfd_tail_image_put(&t->image, t->before.base, t->before.bytes,
                            t->before.n))
        return no_memory(err);
    pfd_tail_say(
        t, PFD_FINDING_reset, 0,
        "%s: generation %llu begins; %llu bytes of the one before never came "
        "out",
        why, (unsigned long long)t->place.generation + 1,
        (unsigned long long)lost);
    if (lost) {
        pfd_tail_say(
            t, PFD_FINDING_unwritten, t->place.at,
            "%llu bytes were reserved and not written, or not read, when the "
            "buffer began anew",
            (unsigned long long)lost);
    }
    pfd_tail_report_overflow(t);
    pfd_tail_generation_clear(t);
    t->place.generation++;
    t->place.has_leftovers = true;
    return PFD_OK;
}

enum pfd_status pfd_tail_look_behind(struct pfd_tail *t, uint64_t n_buffer,
                                     struct pfd_error *err)
{
    uint64_t end = pfd_tail_is_ring(t) ? t->ring.is.data + t->ring.is.capacity
                                       : t->place.n_buffer;
    uint64_t n = n_buffer > end ? n_buffer - end : 0;
    t->has_looked_behind = true;
    if (!n || t->has_told_behind)
        return PFD_OK;
    enum pfd_status status =
        pfd_tail_copy_read(&t->scratch, &t->o, end,
                           n < LEFTOVER_MAX ? (size_t)n : LEFTOVER_MAX, err);
    if (status != PFD_OK || pfd_is_zero(t->scratch.bytes, t->scratch.n))
        return status;
    t->has_told_behind = true;
    t->summary.skipped_bytes += n;
    pfd_tail_say(t, PFD_FINDING_not_read, end, PFD_RING_BEHIND,
                 (unsigned long long)n, (unsigned long long)end);
    return PFD_OK;
}

/* Bytes of scratch that the device has reserved since t->place.end was read, by the
 * header as it is now: it may have written them before scratch was read. */
static enum pfd_status count_reserved(struct pfd_tail *t, size_t *ret,
                                      struct pfd_error *err)
{
    enum pfd_status status = pfd_tail_read_used(t, &t->now, err);
    uint64_t used = status == PFD_OK && t->now.n == pfd_tail_used_bytes(t)
                        ? t->format->live->used(t->walk.table, t->now.bytes)
                        : 0;
    uint64_t n = used > t->place.end ? used - t->place.end : 0;
    t->now.n = 0;
    *ret = n < t->scratch.n ? (size_t)n : t->scratch.n;
    return status;
}

/* Remembers the bytes from before the tail attached: entries behind the used
 * part were written by an earlier generation. */
enum pfd_status pfd_tail_generation_attach(struct pfd_tail *t,
                                           uint64_t n_buffer,
                                           struct pfd_error *err)
{
    uint64_t n = n_buffer > t->place.end ? n_buffer - t->place.end : 0;
    size_t n_new = 0;
    if (n > LEFTOVER_MAX)
        n = LEFTOVER_MAX;
    enum pfd_status status =
        pfd_tail_copy_read(&t->scratch, &t->o, t->place.end, (size_t)n, err);
    if (status != PFD_OK || pfd_is_zero(t->scratch.bytes, t->scratch.n))
        return status;
    status = count_reserved(t, &n_new, err);
    if (status != PFD_OK)
        return status;
    const uint8_t *behind = t->scratch.bytes + n_new;
    size_t n_behind = t->scratch.n - n_new;
    t->place.attached = t->place.end + n_new;
    t->place.has_leftovers = !pfd_is_zero(behind, n_behind);
    return !t->place.has_leftovers ||
                   pfd_tail_image_put(&t->image, t->place.attached, behind,
                                      n_behind)
               ? PFD_OK
               : no_memory(err);
}

/*
 * Does a range that was emitted now belong to another generation? If an earlier
 * generation stood there, single entries may have been emitted from its
 * leftovers and overwritten since: then only a change in most places is a new
 * generation. Entries from before the tail attached are holes themselves, so
 * that holes are compared, too.
 */
static bool is_anew(struct pfd_tail *t, uint64_t from)
{
    uint64_t where = 0;
    const uint8_t *bytes = t->scratch.bytes;
    size_t n = t->scratch.n;
    const struct pfd_tail_holes *but = t->place.attached ? NULL : &t->holes;
    if (t->place.has_leftovers &&
        pfd_tail_image_is_replaced(&t->image, but, from, bytes, n))
        return true;
    enum pfd_tail_change change =
        pfd_tail_image_check(&t->image, &t->holes, from, bytes, n, &where);
    if (change == PFD_TAIL_SAME)
        return false;
    if (change == PFD_TAIL_OTHER) {
        if (!t->place.has_leftovers)
            return true;
        pfd_tail_image_renew(&t->image, &t->holes, from, bytes, n);
    }
    pfd_tail_say(
        t, PFD_FINDING_changed, where,
        "bytes were written after the entry that they belong to had come out");
    return false;
}

enum pfd_status pfd_tail_generation_check(struct pfd_tail *t, bool *other,
                                          struct pfd_error *err)
{
    uint64_t header = t->shape.n_header;
    uint64_t end = t->place.at < t->image.n ? t->place.at : t->image.n;
    uint64_t from[2] = { header, t->place.checked > header ? t->place.checked
                                                           : header };
    size_t most[2] = { CHECK_FIRST, CHECK_NEXT };
    *other = false;
    for (int i = 0; i < 2 && !*other; i++) {
        if (from[i] >= end)
            from[i] = header;
        if (from[i] >= end)
            return PFD_OK;
        size_t n = end - from[i] < most[i] ? (size_t)(end - from[i]) : most[i];
        enum pfd_status status =
            pfd_tail_copy_read(&t->scratch, &t->o, from[i], n, err);
        if (status != PFD_OK)
            return status;
        *other = is_anew(t, from[i]);
        t->place.checked = from[1] + CHECK_NEXT;
    }
    return PFD_OK;
}
