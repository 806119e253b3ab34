/* SPDX-License-Identifier: MIT */
/*
 * Renders the ring's chunks lazily. When the first cursor of a form needs an
 * item, a worker renders a block of text; other cursors of the form share it. A
 * cursor with a render choice (filter, sampling, collapsing, fields) has
 * private blocks, which other workers render, so that an expensive choice
 * delays no cursor without one.
 *
 * All blocks together have a share of the memory. Eviction order: blocks no
 * longer backed by the ring; blocks all cursors have passed, newest first;
 * blocks needed furthest ahead; blocks a cursor started but is not consuming.
 * Loop thread only.
 */
#ifndef PFDD_RENDER_CACHE_H
#define PFDD_RENDER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/job_pool.h"
#include "base/resource_account.h"
#include "config/request.h"
#include "ring/chunk.h"
#include "ring/collapser.h"
#include "ring/ring.h"
#include "ring/sampler.h"

enum {
    PFDD_RENDERED_BLOCK = 256 * 1024, /* bytes of text; its last line may exceed
                                         it */
    PFDD_BLOCK = 384 * 1024,          /* bytes of a text block: fits nearly all
                                         texts */
    PFDD_BLOCKS_MAX = 32,
    PFDD_LINE_MAX = 1024 * 1024, /* a longer line becomes a gap */
};

/* How entries are selected for one cursor, and the cost so far. Owned by the
 * job while a block is being rendered. */
struct pfdd_render_choice {
    struct pfdd_selection wants; /* owned */
    struct pfd_filter_run *run;
    size_t room;                      /* bytes that run may take */
    struct pfdd_collapser *collapser; /* NULL: each entry has its line; owned */
    struct pfdd_strings *strings; /* what run is for; a reference, the loop's */
    int64_t debt_ns;              /* more than what it may take */
    struct pfdd_sampler sampler;
    /* Sequence number behind the block that says that a name of the condition
     * has no meaning so far; 0: none has. */
    uint64_t told;
};

/* *ret: NULL where all entries are wanted; else it takes over the request's
 * wants, to be freed. False: out of memory. */
bool pfdd_render_choice_new(struct pfdd_request *request,
                            struct pfdd_render_choice **ret);
/* Selects among entries of these strings from now on. No block is being
 * rendered. */
void pfdd_render_choice_use(struct pfdd_render_choice *render_choice,
                            struct pfdd_strings *strings);

struct pfdd_rendered_block {
    struct pfdd_job job;
    struct pfdd_render_cache *of;
    unsigned refs;
    enum pfdd_form form;
    bool is_shared;
    /* Private: charged to the part of the share for render choices. */
    bool is_private;
    bool is_ready;
    bool is_next;    /* for a reader, while one to drop is sought */
    bool has_failed; /* there was no memory */
    uint64_t first;  /* sequence number */
    uint64_t end;    /* likewise, behind the last one; it may come
                                   nearer when the page is ready */
    bool is_left;    /* its reader has gone, and left behind: */
    struct pfdd_resource_account account; /* until the page is made */
    char *text; /* [n]; a block, if it is nearly full */
    bool is_block;
    size_t n;
    uint32_t *ends; /* [n_ends], bytes up to the end of each item */
    size_t n_ends;  /* end - first, when rendering began */
    /* Entries only: the buffers that need a preamble, in this order. */
    struct pfdd_rendered_block_buffer {
        struct pfdd_buffer *buffer; /* a reference */
        uint64_t generation;
    } * buffers; /* [n_buffers] */
    size_t n_buffers;
    size_t n_long;    /* lines that became gaps */
    size_t n_charged; /* bytes charged to the share */
    /* The job's. */
    struct pfdd_strings *strings;             /* a reference */
    struct pfdd_render_choice *render_choice; /* NULL: all entries */
    uint64_t full;                            /* sequence number at which it was
                                                 full */
    size_t n_pieces;
    struct pfdd_chunk *pieces[]; /* [n_pieces], a reference to each */
};

/* What the cache asks of the ring's readers. */
struct pfdd_block_reader_hooks {
    /* Wakes readers that wait for this block, or (NULL) for memory, the longest
     * waiting first. */
    void (*wake)(struct pfdd_ring *ring,
                 const struct pfdd_rendered_block *rendered_block);
    /* The position of a reader that shares blocks of the form; UINT64_MAX: it
     * does not. */
    uint64_t (*shared_seq)(const struct pfdd_ring_reader *reader,
                           enum pfdd_form form);
    /* Takes a block back from a reader that is stalled or slow. It copies the
     * rest of a line, or, if its quota does not allow that, ends with an error.
     * who_choose: only readers with a render choice. False: none holds a
     * block. */
    bool (*take_back)(struct pfdd_ring *ring, bool who_choose);
};

struct pfdd_render_cache {
    struct pfdd_ring *ring;
    /* Set by the first cursor; NULL: there was none. */
    const struct pfdd_block_reader_hooks *readers;
    /* Of the strings of chunks; open is NULL: none are known. */
    struct pfdd_object_lists objects;
    struct pfdd_pool *shared; /* renders shared blocks; NULL: rendered at
                                 once */
    struct pfdd_pool *chosen; /* likewise, private blocks */
    unsigned n_ahead; /* blocks that are rendered before a cursor needs them */
    size_t n_bytes;
    size_t n_bytes_max;
    size_t n_private; /* of them, of who chooses: three quarters at most */
    size_t n_left;    /* bytes that closed readers left behind: their
                        quota's */
    /* Blocks that no page has: memory that comes and goes with each page costs
     * more than its text. They count. */
    char *blocks[PFDD_BLOCKS_MAX]; /* [n_blocks] */
    size_t n_blocks;
    struct pfdd_rendered_block_list {
        struct pfdd_rendered_block *
            *items; /* [n], by sequence number; a reference */
        size_t n;
        size_t size;
        size_t line; /* bytes of a line in the last block; 0: unknown */
    } lists[PFDD_N_FORMS];
    uint64_t n_made; /* rendered blocks */
    uint64_t n_long; /* lines that became gaps */
};

/* Pools are borrowed. n_ahead: see struct pfdd_render_cache. */
void pfdd_render_cache_init(struct pfdd_render_cache *render_cache,
                            struct pfdd_ring *ring, struct pfdd_pool *shared,
                            struct pfdd_pool *chosen, unsigned n_ahead,
                            size_t n_bytes_max);
/* There may be no cursors and no jobs. */
void pfdd_render_cache_deinit(struct pfdd_render_cache *render_cache);

/* The block of an item that the ring has, with a reference. It may not be
 * ready: its cursors are woken when it is. is_exact: a new block begins with the
 * item, not where all cursors find the same one. NULL: no memory now. */
struct pfdd_rendered_block *pfdd_render_cache_get(
    struct pfdd_render_cache *render_cache, enum pfdd_form form, uint64_t seq,
    bool is_exact);
/* Renders the next blocks, from an item on, as far as memory is free or blocks
 * before the item can be evicted. */
void pfdd_render_cache_prepare(struct pfdd_render_cache *render_cache,
                               enum pfdd_form form, uint64_t seq);
/* The private block of a reader with a render choice, from an item on;
 * likewise, but its reader has it rendered. */
struct pfdd_rendered_block *pfdd_render_cache_get_private(
    struct pfdd_render_cache *render_cache, enum pfdd_form form,
    struct pfdd_render_choice *render_choice, uint64_t seq);
void pfdd_rendered_block_start_private(
    struct pfdd_rendered_block *rendered_block);
/* The reader goes while its private block is rendered, which has its choice and
 * its account from now on. */
void pfdd_rendered_block_leave_behind(
    struct pfdd_rendered_block *rendered_block,
    struct pfdd_resource_account *account);
/* NULL is allowed. */
void pfdd_rendered_block_unref(struct pfdd_rendered_block *rendered_block);

/* Reserves n bytes of the share for another representation of the ring's items,
 * and evicts blocks if needed. False: no memory. */
bool pfdd_render_cache_reserve(struct pfdd_render_cache *render_cache,
                               size_t n);
void pfdd_render_cache_release(struct pfdd_render_cache *render_cache,
                               size_t n);

/* On a worker: renders the block's text. */
void pfdd_rendered_block_render(struct pfdd_rendered_block *rendered_block);

/* A block of consecutive chunks outside of the ring, from an item on.
 * is_entries: frames of entries; else JSON, or log records where the render
 * choice (NULL: all entries) has an encoding. Strings are not used where whole
 * chunks of entries are wanted. The block is charged to the share, without
 * reserving it first. The caller has it rendered on a worker and settles it on
 * the loop before reading it. NULL: out of memory. */
struct pfdd_rendered_block *pfdd_rendered_block_of(
    struct pfdd_render_cache *render_cache, struct pfdd_chunk *const *chunks,
    size_t n, struct pfdd_strings *strings,
    struct pfdd_render_choice *render_choice, uint64_t first, bool is_entries);
void pfdd_rendered_block_settle(struct pfdd_rendered_block *p);

void pfdd_render_choice_free(struct pfdd_render_choice *render_choice);

#endif
