/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

struct pfd_arena_block {
    struct pfd_arena_block *next;
    size_t n;    /* bytes of data, without the slack */
    char data[]; /* 8-byte aligned: after two words */
};

enum {
    BLOCK_FIRST = 4096,
    BLOCK_MAX = 32 * 1024
};

static struct pfd_arena_block *new_block(struct pfd_arena *arena, size_t n)
{
    size_t want = arena->blocks ? arena->blocks->n * 2 : BLOCK_FIRST;
    if (want > BLOCK_MAX)
        want = BLOCK_MAX;
    if (want < n)
        want = n;
    struct pfd_arena_block *block =
        calloc(1, sizeof *block + want + PFD_ARENA_SLACK);
    if (!block)
        return NULL;
    block->n = want;
    block->next = arena->blocks;
    arena->n_memory += sizeof *block + want + PFD_ARENA_SLACK;
    return block;
}

void *pfd_arena_take(struct pfd_arena *arena, size_t n)
{
    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + 7) & ~(size_t)7;
    if (n > arena->left || !arena->blocks) {
        struct pfd_arena_block *block = new_block(arena, n);
        if (!block)
            return NULL;
        arena->blocks = block;
        arena->left = block->n;
    }
    struct pfd_arena_block *block = arena->blocks;
    void *ret = block->data + (block->n - arena->left);
    arena->left -= n;
    return ret;
}

void pfd_arena_free(struct pfd_arena *arena)
{
    struct pfd_arena_block *block = arena->blocks;
    while (block) {
        struct pfd_arena_block *next = block->next;
        free(block);
        block = next;
    }
    *arena = (struct pfd_arena){ 0 };
}
