/* SPDX-License-Identifier: MIT */
#include "core/base/arena.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/base/large_pages.h"

struct pfd_arena_block {
    struct pfd_arena_block *next;
    char *data; /* [n], and the slack; 8-byte aligned */
    size_t n;
    bool is_large; /* data is an allocation of its own, so that this header does
                      not touch its pages */
};

enum {
    BLOCK_FIRST = 4096,
    BLOCK_MAX = 32 * 1024,
    LARGE_FROM = 512 * 1024, /* bytes that the arena has already */
    SPARE_FIRST = 2 * PFD_ARENA_PIECE,
};

static struct pfd_arena_block *make_block(struct pfd_arena *arena, size_t n)
{
    struct pfd_arena_block *block =
        calloc(1, sizeof *block + n + PFD_ARENA_SLACK);
    if (!block)
        return NULL;
    block->n = n;
    block->data = (char *)(block + 1);
    arena->n_memory += sizeof *block + n + PFD_ARENA_SLACK;
    return block;
}

/* A block of one large page. Not zeroed. NULL: the caller takes small ones. */
static struct pfd_arena_block *make_large_block(struct pfd_arena *arena)
{
    void *data = pfd_large_pages_new(PFD_LARGE_PAGE);
    struct pfd_arena_block *block = data ? malloc(sizeof *block) : NULL;
    if (!block) {
        free(data);
        return NULL;
    }
    *block = (struct pfd_arena_block){
        .data = data,
        .n = PFD_LARGE_PAGE - PFD_ARENA_SLACK,
        .is_large = true,
    };
    arena->n_memory += sizeof *block + PFD_LARGE_PAGE;
    return block;
}

/* Slices come out of this block from now on. */
static void use(struct pfd_arena *arena, struct pfd_arena_block *block)
{
    block->next = arena->blocks;
    arena->blocks = block;
    arena->left = block->n;
}

static bool new_block(struct pfd_arena *arena, size_t n)
{
    size_t want = arena->blocks ? arena->blocks->n * 2 : BLOCK_FIRST;
    if (want > BLOCK_MAX)
        want = BLOCK_MAX;
    if (want < n)
        want = n;
    struct pfd_arena_block *block = make_block(arena, want);
    if (block)
        use(arena, block);
    return block;
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
    bool is_large = arena->n_memory >= LARGE_FROM && n <= PFD_LARGE_PAGE / 2 &&
                    aligned(n) > arena->left;
    struct pfd_arena_block *block = is_large ? make_large_block(arena) : NULL;
    if (block)
        use(arena, block);
    return pfd_arena_take(arena, n);
}

/* As large as the arena is now, up to a large page. */
static struct pfd_arena_block *make_spare(struct pfd_arena *arena)
{
    size_t want = arena->n_allocated + SPARE_FIRST;
    struct pfd_arena_block *block =
        want > LARGE_FROM ? make_large_block(arena) : NULL;
    if (block)
        return block;
    return make_block(arena, want < LARGE_FROM ? want : LARGE_FROM);
}

bool pfd_arena_reserve(struct pfd_arena *arena, size_t n)
{
    size_t promised = arena->n_reserved + aligned(n);
    if (promised > arena->n_allocated) {
        struct pfd_arena_block *block = make_spare(arena);
        if (!block)
            return false;
        block->next = NULL;
        *(arena->spare ? &arena->last_spare->next : &arena->spare) = block;
        arena->last_spare = block;
        /* The rest of a block that cannot hold the next slice is smaller than a
         * slice. */
        arena->n_allocated += block->n - PFD_ARENA_PIECE;
    }
    arena->n_reserved = promised;
    return true;
}

void *pfd_arena_take_reserved(struct pfd_arena *arena, size_t n)
{
    n = aligned(n);
    if (n > arena->left || !arena->blocks) {
        struct pfd_arena_block *block = arena->spare;
        arena->spare = block->next;
        use(arena, block);
    }
    return cut(arena, n);
}

struct pfd_arena_mark pfd_arena_mark(const struct pfd_arena *arena)
{
    return (struct pfd_arena_mark){ arena->blocks, arena->left };
}

/* Does the address lie in the block, at most `left` bytes before its end? */
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
        if (block->is_large)
            free(block->data);
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
