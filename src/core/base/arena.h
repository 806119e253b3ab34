/* SPDX-License-Identifier: MIT */
/*
 * A bump allocator for many small objects that are freed at once. Memory lives
 * as long as the arena; a single object cannot be freed. Not shared between
 * threads.
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
    size_t n_memory; /* bytes allocated from the system */
    /* Blocks that are still unused, the smallest first. */
    struct pfd_arena_block *spare;
    struct pfd_arena_block *last_spare;
    size_t n_reserved;  /* bytes reserved so far */
    size_t n_allocated; /* bytes allocated for them */
};

/* n bytes, aligned to 8, followed by at least PFD_ARENA_SLACK bytes that may
 * be read (not written); NULL when out of memory. */
void *pfd_arena_take(struct pfd_arena *arena, size_t n);

/* The same for one of many objects in a row: a large arena grows by large
 * pages, which the system provides at once. */
void *pfd_arena_take_of_many(struct pfd_arena *arena, size_t n);

/*
 * pfd_arena_reserve() guarantees memory for one slice of up to n bytes, at most
 * PFD_ARENA_PIECE; false: out of memory. pfd_arena_take_reserved() takes one of
 * the reserved slices and cannot fail. Such an arena has no other slices.
 * Untouched memory costs nothing. Slices lie close together in the order in
 * which they are taken, many of them in large pages: random access to them
 * would spend its time on TLB misses otherwise.
 */
enum {
    PFD_ARENA_PIECE = 4096
};
bool pfd_arena_reserve(struct pfd_arena *arena, size_t n);
void *pfd_arena_take_reserved(struct pfd_arena *arena, size_t n);

/* A position in an arena: everything taken later is newer than it. */
struct pfd_arena_mark {
    const struct pfd_arena_block *block;
    size_t left;
};

struct pfd_arena_mark pfd_arena_mark(const struct pfd_arena *arena);

/* True: the slice was taken after the mark. */
bool pfd_arena_is_since(const struct pfd_arena *arena,
                        const struct pfd_arena_mark *mark, const void *piece);

/* Printing copies short literals in blocks of this size. */
enum {
    PFD_ARENA_SLACK = 64
};

void pfd_arena_free(struct pfd_arena *arena);

#endif
