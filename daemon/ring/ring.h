/* SPDX-License-Identifier: MIT */
/*
 * The backlog in memory: a ring of chunks (printfdecode/capture.h), each of one
 * buffer; each item has a sequence number. Chunks are appended once and read by
 * any number of readers (cursor.h), which have them rendered (render_cache.h).
 * A stalled reader delays no other reader, and keeps no chunk in the ring
 * unless it must have all items. Loop thread only.
 */
#ifndef PFDD_RING_H
#define PFDD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/capture.h>

#include "ring/chunk.h"

struct pfdd_ring_reader;

/* What the ring asks of a reader. */
struct pfdd_ring_reader_hooks {
    /* The first item that was not consumed whole. */
    uint64_t (*seq)(const struct pfdd_ring_reader *reader);
    /* True: sources should wait for it. */
    bool (*is_awaited)(struct pfdd_ring_reader *reader, uint64_t now_ns);
    /* There is more. */
    void (*wake)(struct pfdd_ring_reader *reader);
};

/* Reads items: a cursor begins with it. */
struct pfdd_ring_reader {
    struct pfdd_ring_reader *next;
    const struct pfdd_ring_reader_hooks *hooks;
    bool must_have_all; /* the ring keeps items until it consumed them */
};

struct pfdd_ring {
    struct pfdd_chunk **chunks; /* [mask + 1]; see pfdd_ring_at() */
    size_t first;
    size_t n_chunks;
    size_t mask;
    size_t n_bytes; /* of all chunks */
    size_t n_bytes_max;
    /* Of all chunks that exist, also of evicted ones that are still being
     * read. */
    size_t n_held;
    uint64_t n_in; /* bytes that were ever appended */
    uint64_t next_seq;
    /* [n_readers], a list; one that waited for a block and got it moves to
     * the end. */
    struct pfdd_ring_reader *readers;
    size_t n_readers;
    uint64_t n_lines[PFDD_N_KINDS];
    uint64_t no_memory; /* items lost for lack of memory */
    struct pfd_chunk_writer *gaps;
    /* Called when the ring has gained (change > 0) or lost items of a source;
     * may be NULL. */
    void (*held)(void *user, uint32_t source, int change);
    void *held_user;
};

void pfdd_ring_init(struct pfdd_ring *ring, size_t n_bytes_max,
                    uint64_t first_seq);
/* There may be no readers. */
void pfdd_ring_deinit(struct pfdd_ring *ring);

/* The origin of items, and what all chunks of one call share. */
struct pfdd_stamp {
    uint32_t source;
    uint64_t time;              /* ns since 1970 */
    struct pfdd_buffer *buffer; /* borrowed */
};

/* Appends a list of chunks and takes ownership of them. Chunks that cannot be
 * stored become a gap and are counted. */
void pfdd_ring_append(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                      struct pfdd_chunk *chunks);

/* Appends a gap for entries that were lost on the way. */
void pfdd_ring_gap(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                   const char *reason, uint64_t missed);

/* The i-th oldest chunk, i below n_chunks. */
struct pfdd_chunk *pfdd_ring_at(const struct pfdd_ring *ring, size_t i);
/* The index of the chunk that has the item; n_chunks: the item is still to
 * come. seq: not older than the oldest item. */
size_t pfdd_ring_find(const struct pfdd_ring *ring, uint64_t seq);
/* When an item came, ns since 1970; of one that was evicted, the oldest that is
 * left. 0: it is still to come. */
uint64_t pfdd_ring_time(const struct pfdd_ring *ring, uint64_t seq);
/* Adds a reader at the end of the list; removes it; moves it to the end. */
void pfdd_ring_join(struct pfdd_ring *ring, struct pfdd_ring_reader *r);
void pfdd_ring_leave(struct pfdd_ring *ring, const struct pfdd_ring_reader *r);
void pfdd_ring_put_last(struct pfdd_ring *ring, struct pfdd_ring_reader *r);
/* The sequence number of the oldest item, or of the next one if there is
 * none. */
uint64_t pfdd_ring_oldest(const struct pfdd_ring *ring);

/* True: the next chunk would evict items that a cursor which must have all
 * items has not consumed. */
bool pfdd_ring_is_full(const struct pfdd_ring *ring);

/*
 * True: sources should wait. The ring is full, or a cursor that is awaited has
 * most of it to read, counting n_coming bytes more, so that appending items
 * which a buffer still holds would evict unread ones. A cursor that has
 * consumed nothing for 250 ms, or for which sources have waited 5 of the last
 * 30 seconds, is not awaited.
 */
bool pfdd_ring_is_busy(struct pfdd_ring *ring, size_t n_coming);

/* The most bytes that it may come to hold. */
size_t pfdd_ring_most(const struct pfdd_ring *ring);

/* Now, ns since 1970. */
uint64_t pfdd_time_now(void);
/* From that time until now, ns. 0: time is 0, or still to come. */
uint64_t pfdd_time_since(uint64_t time);

#endif
