/* SPDX-License-Identifier: MIT */
/*
 * Many small things that are freed at once. Memory lives as long as the arena;
 * there is no way to give a piece back. Not shared between threads.
 */
#ifndef PFD_ARENA_H
#define PFD_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct pfd_arena_block;

/* All zero is an empty arena. */
struct pfd_arena {
    struct pfd_arena_block *blocks;
    size_t left;     /* free bytes at the end of the first block */
    size_t n_memory; /* bytes taken from the system */
    /* That nothing is taken from yet, the smallest first. */
    struct pfd_arena_block *spare;
    struct pfd_arena_block *last_spare;
    size_t n_promised; /* bytes reserved so far */
    size_t n_kept;     /* bytes that there are for these */
};

/* n bytes, aligned to 8, followed by at least PFD_ARENA_SLACK bytes that may
 * be read (not written); NULL when out of memory. */
void *pfd_arena_take(struct pfd_arena *arena, size_t n);

/* The same where many come one after the other: an arena that has much grows by
 * large pages, which the system gives at once. */
void *pfd_arena_take_of_many(struct pfd_arena *arena, size_t n);

/*
 * pfd_arena_reserve(): a piece of up to n bytes, PFD_ARENA_PIECE at most, will be
 * there; false: out of memory. pfd_arena_take_reserved(): one of those pieces,
 * which cannot fail. Such an arena has no other pieces. Untouched memory costs
 * nothing, pieces lie close together in the order in which they are taken, and
 * many of them in large pages: looking into one after the other at random is
 * looking for their pages otherwise.
 */
enum {
    PFD_ARENA_PIECE = 4096
};
bool pfd_arena_reserve(struct pfd_arena *arena, size_t n);
void *pfd_arena_take_reserved(struct pfd_arena *arena, size_t n);

/* A moment of an arena. */
struct pfd_arena_mark {
    const struct pfd_arena_block *block;
    size_t left;
};

struct pfd_arena_mark pfd_arena_mark(const struct pfd_arena *arena);

/* True: the piece has been taken since. */
bool pfd_arena_is_since(const struct pfd_arena *arena,
                        const struct pfd_arena_mark *mark, const void *piece);

/* Printing copies short literals in blocks of this size. */
enum {
    PFD_ARENA_SLACK = 64
};

void pfd_arena_free(struct pfd_arena *arena);

#endif
