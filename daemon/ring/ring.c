/* SPDX-License-Identifier: MIT */
#include "ring/ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <uv.h>

#include "core/base/clock.h"
#include "stream/capture/chunk.h"

enum {
    FIRST_ROOM = 64, /* chunks */
};

uint64_t pfdd_time_now(void)
{
    return pfd_clock_ns(CLOCK_REALTIME);
}

uint64_t pfdd_time_since(uint64_t time)
{
    uint64_t now = pfdd_time_now();
    return time && time < now ? now - time : 0;
}

void pfdd_ring_init(struct pfdd_ring *ring, size_t n_bytes_max,
                    uint64_t first_seq)
{
    *ring =
        (struct pfdd_ring){ .n_bytes_max = n_bytes_max, .next_seq = first_seq };
}

struct pfdd_chunk *pfdd_ring_at(const struct pfdd_ring *ring, size_t i)
{
    assert(ring->chunks && i < ring->n_chunks);
    return ring->chunks[(ring->first + i) & ring->mask];
}

uint64_t pfdd_ring_oldest(const struct pfdd_ring *ring)
{
    return ring->n_chunks ? pfdd_ring_at(ring, 0)->first_seq : ring->next_seq;
}

size_t pfdd_ring_find(const struct pfdd_ring *ring, uint64_t seq)
{
    size_t low = 0;
    size_t high = ring->n_chunks;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pfdd_chunk *c = pfdd_ring_at(ring, middle);
        if (c->first_seq + c->n_items <= seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint64_t pfdd_ring_time(const struct pfdd_ring *ring, uint64_t seq)
{
    uint64_t oldest = pfdd_ring_oldest(ring);
    size_t i = pfdd_ring_find(ring, seq > oldest ? seq : oldest);
    return i < ring->n_chunks ? pfdd_ring_at(ring, i)->time : 0;
}

/* Bytes of all chunks from the item's chunk on. */
static uint64_t ring_behind(const struct pfdd_ring *ring, uint64_t seq)
{
    size_t i = pfdd_ring_find(ring, seq);
    return i < ring->n_chunks ? ring->n_in - pfdd_ring_at(ring, i)->at : 0;
}

/* ---- eviction ---- */

/* A buffer's metadata, such as labels, may be larger than a chunk: it is
 * charged while one of the buffer's chunks is in the ring. */
static size_t cost(const struct pfdd_chunk *c, const struct pfdd_buffer *b)
{
    return pfdd_chunk_bytes(c) + (b->n_in_ring ? 0 : b->n_bytes);
}

static void drop_oldest(struct pfdd_ring *ring)
{
    struct pfdd_chunk *c = pfdd_ring_at(ring, 0);
    c->buffer->n_in_ring--;
    ring->n_bytes -= cost(c, c->buffer);
    ring->first++;
    ring->n_chunks--;
    if (ring->held)
        ring->held(ring->held_user, c->source, -(int)c->n_items);
    pfdd_chunk_unref(c);
}

void pfdd_ring_deinit(struct pfdd_ring *ring)
{
    assert(!ring->readers);
    while (ring->n_chunks)
        drop_oldest(ring);
    free(ring->chunks);
    pfd_chunk_writer_free(ring->gaps);
}

void pfdd_ring_join(struct pfdd_ring *ring, struct pfdd_ring_reader *r)
{
    struct pfdd_ring_reader **at = &ring->readers;
    while (*at)
        at = &(*at)->next;
    r->next = NULL;
    *at = r;
    ring->n_readers++;
}

void pfdd_ring_leave(struct pfdd_ring *ring, const struct pfdd_ring_reader *r)
{
    struct pfdd_ring_reader **at = &ring->readers;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    ring->n_readers--;
}

void pfdd_ring_put_last(struct pfdd_ring *ring, struct pfdd_ring_reader *r)
{
    pfdd_ring_leave(ring, r);
    pfdd_ring_join(ring, r);
}

/* True: a reader that must have all items has not consumed the oldest chunk. */
static bool is_needed(const struct pfdd_ring *ring)
{
    const struct pfdd_chunk *c = pfdd_ring_at(ring, 0);
    for (const struct pfdd_ring_reader *r = ring->readers; r; r = r->next) {
        if (r->must_have_all && r->hooks->seq(r) < c->first_seq + c->n_items)
            return true;
    }
    return false;
}

bool pfdd_ring_is_full(const struct pfdd_ring *ring)
{
    return ring->n_chunks && ring->n_bytes >= ring->n_bytes_max &&
           is_needed(ring);
}

bool pfdd_ring_is_busy(struct pfdd_ring *ring, size_t n_coming)
{
    bool busy = pfdd_ring_is_full(ring);
    uint64_t now = uv_hrtime();
    for (struct pfdd_ring_reader *r = ring->readers; r; r = r->next) {
        uint64_t n = ring_behind(ring, r->hooks->seq(r));
        if (n && n + n_coming > ring->n_bytes_max / 4 * 3)
            busy |= r->hooks->is_awaited(r, now);
    }
    return busy;
}

size_t pfdd_ring_most(const struct pfdd_ring *ring)
{
    return ring->n_bytes_max > ring->n_held ? ring->n_bytes_max : ring->n_held;
}

static bool make_room_for_pointer(struct pfdd_ring *ring)
{
    if (ring->chunks && ring->n_chunks <= ring->mask)
        return true;
    size_t size = ring->chunks ? 2 * (ring->mask + 1) : FIRST_ROOM;
    struct pfdd_chunk **chunks = malloc(size * sizeof(void *));
    if (!chunks)
        return false;
    for (size_t i = 0; i < ring->n_chunks; i++)
        chunks[i] = pfdd_ring_at(ring, i);
    free(ring->chunks);
    ring->chunks = chunks;
    ring->first = 0;
    ring->mask = size - 1;
    return true;
}

/* ---- appending ---- */

static bool put(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                struct pfdd_chunk *c)
{
    struct pfdd_buffer *b = stamp->buffer;
    while (ring->n_chunks && ring->n_bytes + cost(c, b) > ring->n_bytes_max &&
           !is_needed(ring))
        drop_oldest(ring);
    if (!make_room_for_pointer(ring))
        return false;
    size_t n = pfdd_chunk_bytes(c);
    ring->n_bytes += cost(c, b);
    b->n_in_ring++;
    if (!b->held)
        ring->n_held += b->n_bytes;
    b->held = &ring->n_held;
    c->source = stamp->source;
    c->time = stamp->time;
    c->buffer = pfdd_buffer_ref(b);
    c->held = &ring->n_held;
    c->next = NULL;
    c->at = ring->n_in;
    c->first_seq = ring->next_seq;
    ring->chunks[(ring->first + ring->n_chunks++) & ring->mask] = c;
    ring->n_held += n;
    ring->n_in += n;
    ring->next_seq += c->n_items;
    for (unsigned i = 0; i < PFDD_N_KINDS; i++)
        ring->n_lines[i] += c->contents.n[i];
    if (ring->held)
        ring->held(ring->held_user, c->source, (int)c->n_items);
    return true;
}

static void put_gap(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                    const char *reason, uint64_t missed)
{
    struct pfd_gap gap = { missed, reason };
    struct pfdd_contents contents = { .n = { [PFDD_GAP] = 1 } };
    struct pfdd_chunk *c = NULL;
    size_t n = 0;
    if ((ring->gaps || pfd_chunk_writer_new(&ring->gaps, NULL) == PFD_OK) &&
        pfd_chunk_add_gap(ring->gaps, &gap, NULL) == PFD_OK) {
        const void *bytes = pfd_chunk_finish(ring->gaps, &n);
        c = bytes ? pfdd_chunk_new(&contents, bytes, n) : NULL;
    }
    if (!c || !put(ring, stamp, c)) {
        ring->no_memory++;
        pfdd_chunk_unref(c);
    }
}

static void wake_readers(struct pfdd_ring *ring)
{
    struct pfdd_ring_reader *next = NULL;
    for (struct pfdd_ring_reader *r = ring->readers; r; r = next) {
        next = r->next;
        r->hooks->wake(r);
    }
}

void pfdd_ring_append(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                      struct pfdd_chunk *chunks)
{
    uint64_t lost = 0;
    while (chunks) {
        struct pfdd_chunk *c = chunks;
        chunks = c->next;
        if (!put(ring, stamp, c)) {
            lost += c->contents.n[PFDD_ENTRY];
            pfdd_chunk_unref(c);
        }
    }
    if (lost) {
        ring->no_memory += lost;
        put_gap(ring, stamp, "no_memory", lost);
    }
    wake_readers(ring);
}

void pfdd_ring_gap(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                   const char *reason, uint64_t missed)
{
    put_gap(ring, stamp, reason, missed);
    wake_readers(ring);
}
