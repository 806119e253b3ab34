/* SPDX-License-Identifier: MIT */
/* The bytes of a ring that begins anew at its end: reads and compares them. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/zero.h"
#include "stream/live/tail_ring.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t greatest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

bool pfd_tail_ring_make_room(const struct pfd_tail *t,
                             struct pfd_tail_copy *copy)
{
    size_t n = (size_t)(t->ring.is.data + t->ring.is.capacity);
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

enum pfd_status pfd_tail_ring_read(struct pfd_tail *t, uint64_t from,
                                   uint64_t to, struct pfd_error *err)
{
    enum pfd_status status = PFD_OK;
    while (from < to && status == PFD_OK) {
        uint64_t at = 0;
        uint64_t n = piece(&t->ring.is, from, to, &at);
        status = read_bytes(t, at, t->now.bytes + at, n, err);
        from += n;
    }
    return status;
}

bool pfd_tail_ring_is_same(const struct pfd_tail *t, uint64_t from, uint64_t to)
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

void pfd_tail_ring_note_out(struct pfd_tail *t, uint64_t from)
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

enum pfd_status pfd_tail_ring_check_out(const struct pfd_tail *t,
                                        bool *is_other, bool *is_zero,
                                        struct pfd_error *err)
{
    const struct pfd_tail_ring *r = &t->ring;
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
