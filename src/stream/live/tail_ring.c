/* SPDX-License-Identifier: MIT */
/*
 * Follows a ring that begins anew at its end, by the positions in its header.
 * Each poll reads what the program wrote since the last entry that came out, and
 * then the header again: what the program has passed by then is lost, and
 * counted. An entry comes out when two polls saw the same bytes.
 */
#include "stream/live/tail_ring.h"

#include "core/base/error.h"

enum {
    TRIES = 8,     /* at the end, while the program goes on */
    OUT_MAX = 256, /* bytes that came out and are looked at again */
};

/* ---- positions ---- */

static void forget(struct pfd_tail *t)
{
    struct pfd_tail_ring *r = &t->ring;
    t->marks.n = 0;
    t->place.index = 0;
    r->is_begun = r->is_cut = r->has_told_stall = false;
    r->seen_from = r->seen_to = 0;
    r->n_out = 0;
    r->is.memo = 0;
}

/* What was written and has not come out will not, and the ring begins anew. */
static void reset(struct pfd_tail *t, const char *why)
{
    uint64_t n = t->place.end - t->place.at;
    t->summary.skipped_bytes += n;
    pfd_tail_say(t, PFD_FINDING_reset, 0,
                 "%s: generation %llu begins; %llu bytes of the one before "
                 "never came out",
                 why, (unsigned long long)t->place.generation + 1,
                 (unsigned long long)n);
    t->place.generation++;
    t->place.at = t->place.end = 0;
    forget(t);
}

/* Goes on behind the entry that came out last, where positions still tell where
 * that is. */
static bool resume(struct pfd_tail *t)
{
    struct pfd_tail_ring *r = &t->ring;
    const struct pfd_live_ring *is = &r->is;
    const struct pfd_tail_resume *last = &r->resume;
    uint64_t at = last->offset + last->n_bytes - is->data;
    uint64_t n = 0;
    if (is->grows) {
        n = is->write - (is->turn ? at % is->turn : at);
        n = is->turn ? n % is->turn : n;
        if (n > (is->turn ? is->turn / 2 : UINT64_MAX / 2))
            return false;
    } else {
        if (last->is_changed)
            return false;
        n = (is->write + is->capacity - at % is->capacity) % is->capacity;
    }
    t->place.at = at;
    t->place.end = at + n;
    t->place.index = last->index + 1;
    r->is.memo = UINT64_MAX;
    return true;
}

static enum pfd_status begin(struct pfd_tail *t, struct pfd_error *err)
{
    struct pfd_tail_ring *r = &t->ring;
    const struct pfd_live_ring *is = &r->is;
    bool resumes = r->resumes;
    r->resumes = false;
    r->is_begun = t->last_poll.has_been = true;
    if (resumes && resume(t))
        return pfd_tail_ring_attach(t, err);
    t->place.at = is->grows ? is->read : is->read % is->capacity;
    uint64_t n = is->write - is->read;
    if (!is->grows && is->read > is->write)
        n += is->capacity;
    if (!is->grows && n == 0 && is->is_stalled)
        n = is->capacity;
    t->place.end = t->place.at + n;
    if (resumes) {
        pfd_tail_say(t, PFD_FINDING_reset, 0,
                     "the ring was written over while nobody read it: what "
                     "it lost by then is not known");
    }
    return pfd_tail_ring_attach(t, err);
}

/* Looks whether what came out last still stands there, unless the program may
 * just have written over it. Other bytes: it has gone around once more at least;
 * zeros: it began anew. */
static enum pfd_status check_out(struct pfd_tail *t, uint64_t n_new,
                                 bool *is_other, bool *is_zero,
                                 struct pfd_error *err)
{
    const struct pfd_tail_ring *r = &t->ring;
    uint64_t ahead = t->place.end - r->out_to + n_new;
    *is_other = *is_zero = false;
    if (!r->n_out || ahead > r->is.capacity / 2)
        return PFD_OK;
    return pfd_tail_ring_check_out(t, is_other, is_zero, err);
}

/* Bytes that the program wrote since the last look; UINT64_MAX: its position moved
 * back. */
static uint64_t written(const struct pfd_live_ring *was,
                        const struct pfd_live_ring *is)
{
    if (!is->grows)
        return (is->write + is->capacity - was->write) % is->capacity;
    if (is->write >= was->write)
        return is->write - was->write;
    uint64_t n = is->turn - was->write + is->write;
    return is->turn && is->turn % is->capacity == 0 && n <= is->turn / 2
               ? n
               : UINT64_MAX;
}

/* The program has written over the first of the bytes that are to be read. */
static void lose_oldest(struct pfd_tail *t)
{
    uint64_t room = t->ring.is.capacity;
    uint64_t n = t->place.end - t->place.at;
    if (n <= room)
        return;
    t->place.at = t->place.end - room;
    t->ring.is_cut = true;
    t->summary.lost_bytes += n - room;
    pfd_tail_say(t, PFD_FINDING_overflow, t->ring.is.data,
                 "%llu bytes were written over before they were read",
                 (unsigned long long)(n - room));
}

static enum pfd_status go_on(struct pfd_tail *t,
                             const struct pfd_live_ring *was,
                             struct pfd_error *err)
{
    const struct pfd_live_ring *is = &t->ring.is;
    bool is_other = false;
    bool is_zero = false;
    uint64_t n = written(was, is);
    if (is->capacity != was->capacity || is->data != was->data) {
        reset(t, "the ring's size changed");
    } else if (t->restart) {
        reset(t, "the program begins anew");
    } else if (n == UINT64_MAX) {
        reset(t, "the program's position moved back");
    } else if (!is->grows) {
        enum pfd_status status = check_out(t, n, &is_other, &is_zero, err);
        if (status != PFD_OK)
            return status;
        if (is_zero) {
            reset(t, "what had come out was cleared");
        } else if (is_other) {
            n += is->capacity;
        }
    }
    t->restart = false;
    if (!t->ring.is_begun)
        return begin(t, err);
    t->place.end += n;
    return PFD_OK;
}

static void tell_stall(struct pfd_tail *t)
{
    const struct pfd_live_ring *is = &t->ring.is;
    uint64_t n = is->write - is->read;
    if (!is->grows && is->read >= is->write)
        n += is->capacity;
    if (is->is_stalled && !t->ring.has_told_stall) {
        pfd_tail_say(t, PFD_FINDING_nearly_full, 0,
                     "the program waits for room: the ring of %llu bytes "
                     "holds %llu that its reader has not read",
                     (unsigned long long)is->capacity, (unsigned long long)n);
    }
    t->ring.has_told_stall |= is->is_stalled;
}

static enum pfd_status tell_why(struct pfd_tail *t, const char *why)
{
    if (t->ring.is_begun && !t->ring.has_told_why) {
        pfd_tail_say(t, PFD_FINDING_bad_header, 0, "%s: nothing is read", why);
        t->ring.has_told_why = true;
    }
    return PFD_END;
}

static enum pfd_status tell_size(struct pfd_tail *t, uint64_t n)
{
    if (!t->ring.has_told_why) {
        pfd_tail_say(
            t, PFD_FINDING_too_large, 0,
            "a ring of %llu bytes is not followed, %llu are the limit: "
            "it comes out when it ends, and what is written over by "
            "then is lost",
            (unsigned long long)n, (unsigned long long)t->image.max);
    }
    t->ring.has_told_why = true;
    return PFD_END;
}

/* Reads the header, and how far the program is. PFD_END: it says nothing that
 * can be. */
static enum pfd_status look(struct pfd_tail *t, uint64_t n_buffer,
                            struct pfd_error *err)
{
    struct pfd_live_ring was = t->ring.is;
    if (n_buffer < t->shape.n_header)
        return tell_why(t, "the buffer ends before the ring's data");
    enum pfd_status status =
        pfd_tail_copy_read(&t->scratch, &t->o, 0, t->shape.n_header, err);
    if (status != PFD_OK)
        return status;
    if (t->scratch.n < t->shape.n_header)
        return tell_why(t, "the buffer ends before the ring's data");
    struct pfd_live_ring is =
        t->format->live->ring(t->walk.table, t->scratch.bytes, n_buffer);
    if (is.why)
        return tell_why(t, is.why);
    if (is.data + is.capacity > t->image.max)
        return tell_size(t, is.data + is.capacity);
    is.memo = was.memo;
    t->ring.is = is;
    t->ring.has_told_why = false;
    if (t->ring.is_begun) {
        status = go_on(t, &was, err);
    } else {
        t->restart = false;
        status = begin(t, err);
    }
    if (status == PFD_OK) {
        lose_oldest(t);
        tell_stall(t);
    }
    return status == PFD_MORE ? PFD_END : status;
}

/* ---- polls ---- */

/* Remembers what has come out, or was given up, from a position on. False: out of
 * memory. */
static bool note_out(struct pfd_tail *t, uint64_t from)
{
    struct pfd_tail_ring *r = &t->ring;
    uint64_t most = r->is.capacity / 4;
    most = most < OUT_MAX ? most : OUT_MAX;
    if (t->place.at == from)
        return true;
    r->out_to = t->place.at;
    r->n_out = r->out_to - from < most ? r->out_to - from : most;
    return pfd_tail_ring_note(t, from, r->out_to);
}

/* Reads what is to come out, and emits what is settled of it. */
static enum pfd_status emit(struct pfd_tail *t, uint64_t n_buffer,
                            bool is_final, struct pfd_error *err)
{
    struct pfd_tail_ring *r = &t->ring;
    uint64_t to = t->place.end;
    uint64_t generation = t->place.generation;
    if (t->place.at == to)
        return PFD_OK;
    if (!pfd_tail_ring_make_room(t, &t->now) ||
        !pfd_tail_ring_make_room(t, &t->before))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    uint64_t from = t->place.at;
    enum pfd_status status = pfd_tail_ring_read(t, from, to, err);
    if (status == PFD_OK)
        status = look(t, n_buffer, err);
    /* The next poll sees what this one cannot read. */
    if (status != PFD_OK || generation != t->place.generation ||
        t->place.at >= to)
        return status;
    struct pfd_tail_ring_pass p = {
        .from = t->place.at,
        .to = to,
        .settled = is_final ? UINT64_MAX
                            : pfd_tail_marks_older(&t->marks, t->last_poll.ns,
                                                   t->o.settle_ns),
        .is_final = is_final,
    };
    pfd_tail_ring_pass_run(t, &p);
    p.failed |= !note_out(t, p.from);
    struct pfd_tail_copy swap = t->before;
    t->before = t->now;
    t->now = swap;
    r->seen_from = p.from;
    r->seen_to = to;
    return p.failed
               ? pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory")
               : PFD_OK;
}

enum pfd_status pfd_tail_ring_poll(struct pfd_tail *t, uint64_t n_buffer,
                                   uint64_t now_ns, struct pfd_error *err)
{
    enum pfd_status status = look(t, n_buffer, err);
    t->last_poll.ns = now_ns;
    if (status != PFD_OK)
        return status;
    pfd_tail_marks_add(&t->marks, t->place.end, now_ns, t->o.settle_ns);
    return emit(t, n_buffer, false, err);
}

enum pfd_status pfd_tail_ring_finish(struct pfd_tail *t, uint64_t n_buffer,
                                     struct pfd_error *err)
{
    enum pfd_status status = look(t, n_buffer, err);
    for (int i = 0; i < TRIES && status == PFD_OK && t->place.at < t->place.end;
         i++)
        status = emit(t, n_buffer, true, err);
    uint64_t n = t->place.end - t->place.at;
    if (status >= 0 && t->ring.is_begun && n) {
        t->summary.skipped_bytes += n;
        t->place.at = t->place.end;
        pfd_tail_say(t, PFD_FINDING_unwritten, 0,
                     "%llu bytes had been written, and cannot be read any more",
                     (unsigned long long)n);
    }
    return status;
}

void pfd_tail_ring_tell_whole(struct pfd_tail *t)
{
    struct pfd_live_ring is = { .why = "" };
    if (t->shape.is_ring && t->now.n >= t->shape.n_header)
        is = t->format->live->ring(t->walk.table, t->now.bytes, t->now.n);
    if (!is.why && !is.grows) {
        pfd_tail_say(t, PFD_FINDING_reset, 0,
                     "the ring was not followed: what it lost is not known");
    }
}

bool pfd_tail_is_ring(const struct pfd_tail *t)
{
    return t->can_follow && t->shape.is_ring;
}

void pfd_tail_resume(struct pfd_tail *t, const struct pfd_tail_resume *resume)
{
    t->ring.resumes = true;
    t->ring.resume = *resume;
}
