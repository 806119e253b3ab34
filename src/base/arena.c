/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

struct pfd_arena_block {
    struct pfd_arena_block *next;
    size_t n;    /* bytes of data, without the slack */
    char data[]; /* 8-byte aligned: after two words */
};

enum {
    BLOCK_FIRST = 4096,
    BLOCK_MAX = 32 * 1024,
    LARGE_PAGE = 2 << 20,
    LARGE_FROM = 512 * 1024, /* bytes that there are already */
    SPARE_FIRST = 2 * PFD_ARENA_PIECE,
    SPARE_MAX = 1 << 20,
};

/* A block of n bytes before those that there are. */
static bool add_block(struct pfd_arena *arena, struct pfd_arena_block **blocks,
                      size_t n)
{
    struct pfd_arena_block *block =
        calloc(1, sizeof *block + n + PFD_ARENA_SLACK);
    if (!block)
        return false;
    block->n = n;
    block->next = *blocks;
    *blocks = block;
    arena->n_memory += sizeof *block + n + PFD_ARENA_SLACK;
    return true;
}

/* Not zeroed: nobody relies on that. False: as small ones, then. */
static bool add_large_block(struct pfd_arena *arena)
{
    void *at = NULL;
    if (posix_memalign(&at, LARGE_PAGE, LARGE_PAGE))
        return false;
    madvise(at, LARGE_PAGE, MADV_HUGEPAGE); /* or not */
    struct pfd_arena_block *block = at;
    block->n = LARGE_PAGE - sizeof *block - PFD_ARENA_SLACK;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->n_memory += LARGE_PAGE;
    arena->left = block->n;
    return true;
}

static bool new_block(struct pfd_arena *arena, size_t n)
{
    size_t want = arena->blocks ? arena->blocks->n * 2 : BLOCK_FIRST;
    if (want > BLOCK_MAX)
        want = BLOCK_MAX;
    if (want < n)
        want = n;
    if (!add_block(arena, &arena->blocks, want))
        return false;
    arena->left = want;
    return true;
}

static size_t aligned(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static void *cut(struct pfd_arena *arena, size_t n)
{
    struct pfd_arena_block *block = arena->blocks;
    void *ret = block->data + (block->n - arena->left);
    arena->left -= n;
    return ret;
}

void *pfd_arena_take(struct pfd_arena *arena, size_t n)
{
    if (n > SIZE_MAX / 2)
        return NULL;
    n = aligned(n);
    if ((n > arena->left || !arena->blocks) && !new_block(arena, n))
        return NULL;
    return cut(arena, n);
}

void *pfd_arena_take_of_many(struct pfd_arena *arena, size_t n)
{
    bool is_large = arena->n_memory >= LARGE_FROM && n <= LARGE_PAGE / 2 &&
                    aligned(n) > arena->left;
    if (is_large && add_large_block(arena))
        return cut(arena, aligned(n));
    return pfd_arena_take(arena, n);
}

bool pfd_arena_reserve(struct pfd_arena *arena, size_t n)
{
    size_t promised = arena->n_promised + aligned(n);
    if (promised > arena->n_kept) {
        /* As much again as there is; what is left of a block when a piece does
         * not fit any more is less than a piece. */
        size_t want = arena->n_kept + SPARE_FIRST;
        if (want > SPARE_MAX)
            want = SPARE_MAX;
        if (!add_block(arena, &arena->spare, want))
            return false;
        arena->n_kept += want - PFD_ARENA_PIECE;
    }
    arena->n_promised = promised;
    return true;
}

void *pfd_arena_take_reserved(struct pfd_arena *arena, size_t n)
{
    n = aligned(n);
    if (n > arena->left || !arena->blocks) {
        struct pfd_arena_block *block = arena->spare;
        arena->spare = block->next;
        block->next = arena->blocks;
        arena->blocks = block;
        arena->left = block->n;
    }
    return cut(arena, n);
}

struct pfd_arena_mark pfd_arena_mark(const struct pfd_arena *arena)
{
    return (struct pfd_arena_mark){ arena->blocks, arena->left };
}

/* From so many bytes before the block's end on. */
static bool has(const struct pfd_arena_block *block, size_t left,
                const void *piece)
{
    uintptr_t at = (uintptr_t)piece;
    uintptr_t end = (uintptr_t)block->data + block->n;
    return at < end && at >= end - left;
}

bool pfd_arena_is_since(const struct pfd_arena *arena,
                        const struct pfd_arena_mark *mark, const void *piece)
{
    const struct pfd_arena_block *block = arena->blocks;
    for (; block && block != mark->block; block = block->next) {
        if (has(block, block->n, piece))
            return true;
    }
    return block && has(block, mark->left, piece);
}

static void free_blocks(struct pfd_arena_block *block)
{
    while (block) {
        struct pfd_arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void pfd_arena_free(struct pfd_arena *arena)
{
    free_blocks(arena->blocks);
    free_blocks(arena->spare);
    *arena = (struct pfd_arena){ 0 };
}
