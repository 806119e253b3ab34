/* SPDX-License-Identifier: MIT */
/*
 * The lines that were delivered last: a ring of chunks, each line with a
 * sequence number. Lines go in once and are read in place by any number of
 * readers (reader.h); a reader keeps the chunk that it stands in alive, so
 * that one that stalls costs a chunk and delays nobody.
 *
 * Lines are JSON objects in the form of the library's "json" output; going in,
 * each gets "sequence" and "time" behind its "type". Loop thread only.
 */
#ifndef PFDD_RING_H
#define PFDD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_CHUNK = 256 * 1024,
    PFDD_LINE_MAX = 1024 * 1024, /* a longer line becomes a gap */
};

enum pfdd_kind {
    PFDD_ENTRY,
    PFDD_FINDING,
    PFDD_GAP,
    PFDD_OTHER,
    PFDD_N_KINDS
};

struct pfdd_line {
    uint32_t at; /* in its chunk */
    uint32_t n;  /* with its newline */
    uint32_t source;
    enum pfdd_kind kind;
};

struct pfdd_chunk {
    unsigned refs;
    struct pfdd_ring *ring;  /* takes it back */
    struct pfdd_chunk *next; /* of spare ones */
    uint64_t number;         /* chunks are numbered from 0 */
    uint64_t first_seq;      /* of lines[0] */
    uint64_t time_max;       /* of its lines, ns since 1970 */
    size_t n;                /* bytes in data */
    size_t size;
    struct pfdd_line *lines; /* [n_lines] */
    size_t n_lines;
    size_t lines_size;
    char *data;
};

struct pfdd_reader;

struct pfdd_ring {
    struct pfdd_chunk **chunks; /* [n_chunks] from chunks[0], the oldest */
    size_t n_chunks;
    size_t chunks_size;
    size_t n_bytes; /* of all chunks, with their tables */
    size_t n_bytes_max;
    size_t n_held;  /* of all chunks that are alive: also of spare ones, and of
                       those that only readers hold */
    size_t n_chunk; /* bytes of a chunk: PFDD_CHUNK, or fewer in tests */
    uint64_t next_seq;
    uint64_t next_chunk;
    struct pfdd_chunk *spare; /* a list: taken before memory is asked for */
    size_t n_spare;
    struct pfdd_reader *readers; /* a list */
    uint64_t n_lines[PFDD_N_KINDS];
    uint64_t n_in;      /* bytes of all lines */
    uint64_t too_long;  /* lines */
    uint64_t no_memory; /* lines lost to it */
    /* Called when it has so many lines of a source more, or fewer: a chunk has
     * gone, with whoever read it; may be NULL. */
    void (*held)(void *user, uint32_t source, int change);
    void *held_user;
    /* Called when lines went in, before the readers are woken; may be NULL. */
    void (*appended)(void *user);
    void *user;
};

void pfdd_ring_init(struct pfdd_ring *ring, size_t n_bytes_max,
                    uint64_t first_seq);
/* There may be no readers. */
void pfdd_ring_deinit(struct pfdd_ring *ring);

/* Where lines come from, and what all lines of a call have in common. */
struct pfdd_stamp {
    uint32_t source;
    uint64_t time; /* ns since 1970 */
};

/*
 * Appends whole lines [n], each ended by a newline. Never fails: what cannot
 * be kept becomes a gap record and is counted.
 */
void pfdd_ring_append(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                      const char *lines, size_t n);

/* Appends a record of lines that were lost on the way. */
void pfdd_ring_gap(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                   const char *reason, uint64_t missed);

/* True when the next chunk would push out lines that a reader that must not
 * lose any has not read. */
bool pfdd_ring_is_full(const struct pfdd_ring *ring);

/*
 * True while sources should wait: the ring is full, or what a reader that reads
 * has before it, with n_coming bytes more, is most of it, so that lines which a
 * buffer still holds would be pushed out. A reader that has taken nothing for
 * 250 ms, or for which sources have waited 5 of the last 30 seconds, is not
 * waited for.
 */
bool pfdd_ring_is_busy(struct pfdd_ring *ring, size_t n_coming);

/* Bytes that it may come to hold with the readers that it has. */
size_t pfdd_ring_most(const struct pfdd_ring *ring);

/* Reference counting of chunks. */
struct pfdd_chunk *pfdd_chunk_ref(struct pfdd_chunk *chunk);
void pfdd_chunk_unref(struct pfdd_chunk *chunk);

/* The chunk of a number, borrowed; NULL: it is gone or not yet there. */
struct pfdd_chunk *pfdd_ring_chunk(const struct pfdd_ring *ring,
                                   uint64_t number);

/* RFC 3339, nanoseconds, into ret. */
enum {
    PFDD_TIME_TEXT = 48
};
void pfdd_time_text(uint64_t ns, char ret[PFDD_TIME_TEXT]);

/* Now, ns since 1970. */
uint64_t pfdd_time_now(void);

#endif
