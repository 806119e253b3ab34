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

bool pfd_tail_ring_is_old(const struct pfd_tail *t, uint64_t from, uint64_t to)
{
    bool ret = true;
    while (ret && from < to) {
        uint64_t at = 0;
        uint64_t n = piece(&t->ring.is, from, to, &at);
        ret = pfd_tail_image_is(&t->image, at - t->ring.is.data,
                                t->now.bytes + at, (size_t)n);
        from += n;
    }
    return ret;
}

bool pfd_tail_ring_note(struct pfd_tail *t, uint64_t from, uint64_t to)
{
    bool ret = true;
    while (ret && from < to) {
        uint64_t at = 0;
        uint64_t n = piece(&t->ring.is, from, to, &at);
        ret = pfd_tail_image_put(&t->image, at - t->ring.is.data,
                                 t->now.bytes + at, (size_t)n);
        from += n;
    }
    return ret;
}

enum pfd_status pfd_tail_ring_attach(struct pfd_tail *t, struct pfd_error *err)
{
    uint64_t from = t->place.end;
    uint64_t to = t->place.at + t->ring.is.capacity;
    t->image.n = 0;
    if (from >= to)
        return PFD_OK;
    if (!pfd_tail_ring_make_room(t, &t->now))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    enum pfd_status status = pfd_tail_ring_read(t, from, to, err);
    if (status == PFD_OK && !pfd_tail_ring_note(t, from, to))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    return status == PFD_MORE ? PFD_OK : status;
}

enum pfd_status pfd_tail_ring_check_out(struct pfd_tail *t, bool *is_other,
                                        bool *is_zero, struct pfd_error *err)
{
    const struct pfd_tail_ring *r = &t->ring;
    uint64_t n_differ = 0;
    bool is_any = false;
    uint64_t from = r->out_to - r->n_out;
    while (from < r->out_to) {
        uint64_t at = 0;
        uint64_t n = piece(&r->is, from, r->out_to, &at);
        enum pfd_status status =
            pfd_tail_copy_read(&t->scratch, &t->o, at, (size_t)n, err);
        if (status != PFD_OK)
            return status;
        if (t->scratch.n < n)
            return PFD_MORE;
        for (size_t i = 0; i + 4 <= n; i += 4) {
            n_differ += !pfd_tail_image_is(&t->image, at - r->is.data + i,
                                           t->scratch.bytes + i, 4);
        }
        is_any |= !pfd_is_zero(t->scratch.bytes, t->scratch.n);
        from += n;
    }
    *is_zero = n_differ && !is_any;
    /* One late store explains less. */
    *is_other = n_differ > r->n_out / 32;
    return PFD_OK;
}
