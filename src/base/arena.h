/* SPDX-License-Identifier: MIT */
/*
 * Many small things that are freed at once. Memory lives as long as the arena;
 * there is no way to give a piece back. Not shared between threads.
 */
#ifndef PFD_ARENA_H
#define PFD_ARENA_H

#include <stddef.h>

struct pfd_arena_block;

/* All zero is an empty arena. */
struct pfd_arena {
    struct pfd_arena_block *blocks;
    size_t left;     /* free bytes at the end of the first block */
    size_t n_memory; /* bytes taken from the system */
};

/* n bytes, aligned to 8, followed by at least PFD_ARENA_SLACK bytes that may
 * be read (not written); NULL when out of memory. */
void *pfd_arena_take(struct pfd_arena *arena, size_t n);

/* Printing copies short literals in blocks of this size. */
enum {
    PFD_ARENA_SLACK = 64
};

void pfd_arena_free(struct pfd_arena *arena);

#endif
