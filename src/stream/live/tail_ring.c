/* SPDX-License-Identifier: MIT */
/*
 * Follows a ring that begins anew at its end, by the positions in its header.
 * Each poll reads what the program wrote since the last entry that came out, and
 * then the header again: what the program has passed by then is lost, and
 * counted. An entry comes out when two polls saw the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/zero.h"
#include "stream/live/tail_pass.h"

enum {
    TRIES = 8, /* at the end, while the program goes on */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t greatest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- bytes ---- */

/* Room for the whole ring, of which parts are read. */
static bool make_room(struct pfd_tail_copy *copy, size_t n)
{
    if (copy->room < n) {
        pfd_tail_copy_drop(copy);
        copy->bytes = calloc(1, n);
        copy->room = copy->bytes ? n : 0;
    }
    copy->base = 0;
    copy->n = n;
    return copy->bytes;
}

/* Reads bytes [n] of the buffer to `to`; PFD_MORE: they are not there. */
static enum pfd_status read_bytes(const struct pfd_tail *t, uint64_t from,
                                  uint8_t *to, uint64_t n,
                                  struct pfd_error *err)
{
    while (n) {
        long got = t->o.read(t->o.read_user, from, to, (size_t)n);
        if (got < 0)
            return pfd_fail(err, PFD_ERR_IO, from, "%s", strerror((int)-got));
        if (got == 0)
            return PFD_MORE;
        from += (uint64_t)got;
        to += got;
        n -= (uint64_t)got;
    }
    return PFD_OK;
}

/* Bytes from a position on that lie in one piece; *at: their place. */
static uint64_t piece(const struct pfd_live_ring *is, uint64_t from,
                      uint64_t to, uint64_t *at)
{
    uint64_t place = from % is->capacity;
    *at = is->data + place;
    return least(to - from, is->capacity - place);
}

/* Reads positions [from, to) into the place that they have in bytes. */
static enum pfd_status read_range(const struct pfd_tail *t, uint8_t *bytes,
                                  uint64_t from, uint64_t to,
                                  struct pfd_error *err)
{
    enum pfd_status status = PFD_OK;
    while (from < to && status == PFD_OK) {
        uint64_t at = 0;
        uint64_t n = piece(&t->ring.is, from, to, &at);
        status = read_bytes(t, at, bytes + at, n, err);
        from += n;
    }
    return status;
}

static bool is_same(const struct pfd_tail *t, uint64_t from, uint64_t to)
{
    const struct pfd_tail_ring *r = &t->ring;
    bool same = from >= r->seen_from && to <= r->seen_to;
    while (same && from < to) {
        uint64_t at = 0;
        uint64_t n = piece(&r->is, from, to, &at);
        same = !memcmp(t->now.bytes + at, t->before.bytes + at, (size_t)n);
        from += n;
    }
    return same;
}

/* Remembers the last bytes before the place, if they are in positions from
 * `from` on. */
static void note_out(struct pfd_tail *t, uint64_t from)
{
    struct pfd_tail_ring *r = &t->ring;
    uint64_t to = t->place.at;
    uint64_t most = least(sizeof r->out, r->is.capacity / 4);
    if (to == from)
        return;
    from = greatest(from, to > most ? to - most : 0);
    r->out_to = to;
    r->n_out = 0;
    while (from < to) {
        uint64_t at = 0;
        uint64_t n = piece(&r->is, from, to, &at);
        memcpy(r->out + r->n_out, t->now.bytes + at, (size_t)n);
        r->n_out += (uint32_t)n;
        from += n;
    }
}

/* ---- positions ---- */

static void forget(struct pfd_tail *t)
{
    struct pfd_tail_ring *r = &t->ring;
    t->marks.n = 0;
    t->place.index = 0;
    r->is_begun = r->is_cut = r->has_told_stall = false;
    r->seen_from = r->seen_to = 0;
    r->n_out = 0;
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
    return true;
}

static void begin(struct pfd_tail *t)
{
    struct pfd_tail_ring *r = &t->ring;
    const struct pfd_live_ring *is = &r->is;
    bool resumes = r->resumes;
    r->resumes = false;
    r->is_begun = t->last_poll.has_been = true;
    if (resumes && resume(t))
        return;
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
}

/* Reads what came out last again, unless the program may just have written over
 * it. Other bytes: it has gone around once more at least; zeros: it began anew. */
static enum pfd_status check_out(struct pfd_tail *t, uint64_t n_new,
                                 bool *is_other, bool *is_zero,
                                 struct pfd_error *err)
{
    struct pfd_tail_ring *r = &t->ring;
    uint64_t ahead = t->place.end - r->out_to + n_new;
    *is_other = *is_zero = false;
    if (!r->n_out || ahead > r->is.capacity / 2)
        return PFD_OK;
    size_t n_differ = 0;
    uint8_t now[sizeof r->out];
    uint64_t from = r->out_to - r->n_out;
    for (size_t done = 0; done < r->n_out;) {
        uint64_t at = 0;
        uint64_t n = piece(&r->is, from + done, r->out_to, &at);
        enum pfd_status status = read_bytes(t, at, now + done, n, err);
        if (status != PFD_OK)
            return status;
        done += (size_t)n;
    }
    for (size_t i = 0; i + 4 <= r->n_out; i += 4)
        n_differ += memcmp(now + i, r->out + i, 4) != 0;
    *is_zero = n_differ && pfd_is_zero(now, r->n_out);
    /* One late store explains less. */
    *is_other = n_differ > r->n_out / 32;
    return PFD_OK;
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
    if (t->ring.is_begun) {
        t->place.end += n;
    } else {
        begin(t);
    }
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
    if (!is.why && is.data + is.capacity > t->image.max)
        is.why = "the ring is larger than there is memory for";
    if (is.why)
        return tell_why(t, is.why);
    t->ring.is = is;
    t->ring.has_told_why = false;
    if (t->ring.is_begun) {
        status = go_on(t, &was, err);
    } else {
        t->restart = false;
        begin(t);
    }
    if (status == PFD_OK) {
        lose_oldest(t);
        tell_stall(t);
    }
    return status == PFD_MORE ? PFD_END : status;
}

/* ---- entries ---- */

/* One pass over bytes that were read. */
struct pass {
    uint64_t from;
    uint64_t to;
    uint64_t settled; /* before it, what cannot be read is given up */
    bool is_final;
    bool in_gap;
    struct pfd_finding gap;
    uint64_t gap_at;
    bool failed;
};

/* The position of a byte of the buffer. */
static uint64_t position(const struct pfd_tail *t, const struct pass *p,
                         uint64_t offset)
{
    const struct pfd_live_ring *is = &t->ring.is;
    uint64_t place = (offset - is->data) % is->capacity;
    uint64_t from = p->from % is->capacity;
    return p->from + (place + is->capacity - from) % is->capacity;
}

static void close_gap(struct pfd_tail *t, struct pass *p, uint64_t to)
{
    if (p->in_gap) {
        bool is_lost = p->gap.kind == PFD_FINDING_overflow;
        *(is_lost ? &t->summary.lost_bytes : &t->summary.skipped_bytes) +=
            to - p->gap_at;
        pfd_tail_emit_finding(t, &p->gap);
    }
    p->in_gap = false;
    t->place.at = to;
}

/* Takes a record; false: it is not settled. */
static bool take(struct pfd_tail *t, struct pass *p, const struct pfd_record *r)
{
    uint64_t at = position(t, p, r->offset);
    bool is_entry = r->kind == PFD_RECORD_ENTRY;
    bool is_doubtful = !is_entry || pfd_record_is_unknown(r) || r->findings;
    bool is_cut = t->ring.is_cut && !is_entry && at == p->from;
    bool is_still = !is_entry || p->is_final || is_same(t, at, at + r->n_bytes);
    if (!is_still || (is_doubtful && !is_cut && at >= p->settled)) {
        close_gap(t, p, at);
        return false;
    }
    close_gap(t, p, at);
    if (is_entry) {
        uint64_t offset = t->ring.is.grows ? t->ring.is.data + at : r->offset;
        p->failed |= !pfd_tail_emit(t, r, 0, offset, 0);
        t->place.at = at + r->n_bytes;
    } else {
        p->in_gap = true;
        p->gap_at = at;
        p->gap = pfd_record_batch_finding(
            &t->batch, r, t->source, t->gap_sentence, sizeof t->gap_sentence);
    }
    t->ring.is_cut = false;
    return true;
}

static void run(struct pfd_tail *t, struct pass *p)
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
        for (size_t i = 0; i < t->batch.n;
             i += 1u + t->batch.records[i].n_alternatives) {
            if (!take(t, p, &t->batch.records[i]))
                return;
        }
        p->failed |= t->batch.text.failed || t->batch.bytes.failed;
    }
    if (!p->failed)
        close_gap(t, p, p->to);
}

/* Reads what is to come out, and emits what is settled of it. */
static enum pfd_status emit(struct pfd_tail *t, uint64_t n_buffer,
                            bool is_final, struct pfd_error *err)
{
    struct pfd_tail_ring *r = &t->ring;
    size_t n = (size_t)(r->is.data + r->is.capacity);
    uint64_t to = t->place.end;
    uint64_t generation = t->place.generation;
    if (t->place.at == to)
        return PFD_OK;
    if (!make_room(&t->now, n) || !make_room(&t->before, n))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    uint64_t from = t->place.at;
    enum pfd_status status = read_range(t, t->now.bytes, from, to, err);
    if (status == PFD_OK)
        status = look(t, n_buffer, err);
    /* The next poll sees what this one cannot read. */
    if (status != PFD_OK || generation != t->place.generation ||
        t->place.at >= to)
        return status;
    struct pass p = {
        .from = t->place.at,
        .to = to,
        .settled = is_final ? UINT64_MAX
                            : pfd_tail_marks_older(&t->marks, t->last_poll.ns,
                                                   t->o.settle_ns),
        .is_final = is_final,
    };
    run(t, &p);
    note_out(t, p.from);
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

bool pfd_tail_is_ring(const struct pfd_tail *t)
{
    return t->can_follow && t->shape.is_ring;
}

void pfd_tail_resume(struct pfd_tail *t, const struct pfd_tail_resume *resume)
{
    t->ring.resumes = true;
    t->ring.resume = *resume;
}
