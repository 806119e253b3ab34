/* SPDX-License-Identifier: MIT */
/*
 * What was delivered last: a ring of chunks (printfdecode/chunk.h), each of one
 * buffer, each item of them with a sequence number. Chunks go in once and are
 * read by any number of readers (cursor.h), which make text of them (render_cache.h);
 * one that stalls keeps none of them and delays nobody. Loop thread only.
 */
#ifndef PFDD_RING_H
#define PFDD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/chunk.h>

#include "ring/chunk.h"

struct pfdd_cursor;

struct pfdd_ring {
    struct pfdd_chunk **chunks; /* [mask + 1]; see pfdd_ring_at() */
    size_t first;
    size_t n_chunks;
    size_t mask;
    size_t n_bytes; /* of all chunks */
    size_t n_bytes_max;
    size_t n_held; /* of all chunks that are alive, also of those that only
                      somebody who reads them holds */
    uint64_t n_in; /* bytes that have ever gone in */
    uint64_t next_seq;
    struct pfdd_cursor
        *cursors; /* [n_readers], a list; who has waited and got a
                                    page last is at its end */
    size_t n_readers;
    uint64_t n_lines[PFDD_N_KINDS];
    uint64_t no_memory; /* items lost to it */
    struct pfd_chunk_writer *gaps;
    /* Called when it has so many items of a source more, or fewer; may be
     * NULL. */
    void (*held)(void *user, uint32_t source, int change);
    void *held_user;
};

void pfdd_ring_init(struct pfdd_ring *ring, size_t n_bytes_max,
                    uint64_t first_seq);
/* There may be no readers. */
void pfdd_ring_deinit(struct pfdd_ring *ring);

/* Where items come from, and what all of a call have in common. */
struct pfdd_stamp {
    uint32_t source;
    uint64_t time;              /* ns since 1970 */
    struct pfdd_buffer *buffer; /* borrowed */
};

/* Appends a list of chunks, which are taken over. What cannot be kept becomes a
 * gap and is counted. */
void pfdd_ring_append(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                      struct pfdd_chunk *chunks);

/* Appends a gap: of entries that were lost on the way. */
void pfdd_ring_gap(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                   const char *reason, uint64_t missed);

/* The i-th oldest chunk, i below n_chunks. */
struct pfdd_chunk *pfdd_ring_at(const struct pfdd_ring *ring, size_t i);
/* Which one has the item; n_chunks: none has, it is to come. seq: not older
 * than the oldest that there is. */
size_t pfdd_ring_find(const struct pfdd_ring *ring, uint64_t seq);
/* A reader of it, at the end of the list, and out of the list. */
void pfdd_ring_join(struct pfdd_ring *ring, struct pfdd_cursor *r);
void pfdd_ring_leave(struct pfdd_ring *ring, const struct pfdd_cursor *r);
void pfdd_ring_put_last(struct pfdd_ring *ring, struct pfdd_cursor *r);
/* Of the oldest item that there is, or of the next one. */
uint64_t pfdd_ring_oldest(const struct pfdd_ring *ring);
/* Bytes of all chunks from the one of an item on. */
uint64_t pfdd_ring_behind(const struct pfdd_ring *ring, uint64_t seq);

/* True when the next chunk would push out items that a reader that must not
 * lose any has not read. */
bool pfdd_ring_is_full(const struct pfdd_ring *ring);

/*
 * True while sources should wait: the ring is full, or what a reader that reads
 * has before it, with n_coming bytes more, is most of it, so that items which a
 * buffer still holds would be pushed out. A reader that has taken nothing for
 * 250 ms, or for which sources have waited 5 of the last 30 seconds, is not
 * waited for.
 */
bool pfdd_ring_is_busy(struct pfdd_ring *ring, size_t n_coming);

/* Bytes that it may come to hold. */
size_t pfdd_ring_most(const struct pfdd_ring *ring);

/* Now, ns since 1970. */
uint64_t pfdd_time_now(void);

#endif
