/* SPDX-License-Identifier: MIT */
/*
 * Text that is made late: of the ring's chunks, on a worker, when the first
 * reader asks for it in its form; the next ones read the same page. What a
 * reader chooses by itself has pages of its own, made by other workers, so that
 * a choice that costs much delays nobody who makes none.
 *
 * All pages together have a share of the memory: what the ring has no more goes
 * first, then what all readers have behind them, the last one first, then what
 * will be wanted last, then what somebody has begun and does not take. Loop
 * thread only.
 */
#ifndef PFDD_RENDER_CACHE_H
#define PFDD_RENDER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/job_pool.h"
#include "config/request.h"
#include "ring/chunk_objects.h"
#include "ring/collapser.h"
#include "ring/ring.h"
#include "ring/sampler.h"

enum {
    PFDD_RENDERED_BLOCK = 256 * 1024, /* bytes of text, but for the last line */
    PFDD_BLOCK = 384 * 1024,          /* what nearly all pages' text fits in */
    PFDD_BLOCKS_MAX = 32,
    PFDD_LINE_MAX = 1024 * 1024, /* a longer line becomes a gap */
};

/* How entries are chosen for one reader, and what that has cost. The job's
 * while a page is made. */
struct pfdd_render_choice {
    struct pfdd_wants wants; /* owned */
    struct pfd_filter_run *run;
    size_t room;                      /* bytes that run may take */
    struct pfdd_collapser *collapser; /* NULL: each entry has its line; owned */
    struct pfdd_strings *strings; /* what run is for; a reference, the loop's */
    int64_t debt_ns;              /* more than what it may take */
    struct pfdd_sampler sampler;
};

/* *ret: NULL where everything is wanted; else it has the request's wants, to be
 * freed. False: out of memory. */
bool pfdd_render_choice_new(struct pfdd_request *request,
                            struct pfdd_render_choice **ret);
/* From now on it chooses among entries with these; no page is being made. */
void pfdd_render_choice_use(struct pfdd_render_choice *render_choice,
                            struct pfdd_strings *strings);

struct pfdd_rendered_block {
    struct pfdd_job job;
    struct pfdd_render_cache *of;
    unsigned refs;
    enum pfdd_form form;
    bool is_shared;
    bool
        is_chosen; /* of somebody who chooses, in whose part of the share it is */
    bool is_ready;
    bool is_next;               /* for a reader, while one to drop is sought */
    bool has_failed;            /* there was no memory */
    uint64_t first;             /* sequence number */
    uint64_t end;               /* likewise, behind the last one; it may come
                                   nearer when the page is ready */
    struct pfdd_cursor *cursor; /* whose it is, if it is not shared; NULL: it
                                   has gone, and left behind: */
    struct pfdd_reader_quota *reader_quota; /* a reference, of which it has */
    size_t n_held; /* so many bytes, until the page is made */
    char *text;    /* [n]; a block, if it is nearly full */
    bool is_block;
    size_t n;
    uint32_t *ends; /* [n_ends], bytes behind each item */
    size_t n_ends;  /* end - first, when it was begun */
    /* Of entries: what is spoken of, in this order. */
    struct pfdd_rendered_block_buffer {
        struct pfdd_buffer *buffer; /* a reference */
        uint64_t generation;
    } * buffers; /* [n_buffers] */
    size_t n_buffers;
    size_t n_long;    /* lines that became gaps */
    size_t n_charged; /* of the share */
    /* The job's. */
    struct pfdd_strings *strings;             /* a reference */
    struct pfdd_render_choice *render_choice; /* NULL: everything */
    uint64_t full;                            /* where it was full */
    size_t n_pieces;
    struct pfdd_chunk *pieces[]; /* [n_pieces], a reference to each */
};

struct pfdd_render_cache {
    struct pfdd_ring *ring;
    struct pfdd_object_lists
        objects;              /* that strings come from; open is NULL: nobody
                                    knows any */
    struct pfdd_pool *shared; /* makes pages; NULL: made at once */
    struct pfdd_pool *chosen; /* likewise, those of single readers */
    unsigned n_ahead; /* pages that are made before a reader gets there */
    size_t n_bytes;
    size_t n_bytes_max;
    size_t n_chosen; /* of them, of who chooses: three quarters at most */
    size_t n_left;   /* bytes that readers who have gone left behind: their
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
        size_t line; /* bytes of one in the last page; 0: there was none */
    } lists[PFDD_N_FORMS];
    uint64_t n_made; /* pages */
    uint64_t n_long; /* lines that became gaps */
};

/* pools: borrowed. n_ahead: see pfdd_render_cache. */
void pfdd_render_cache_init(struct pfdd_render_cache *render_cache,
                            struct pfdd_ring *ring, struct pfdd_pool *shared,
                            struct pfdd_pool *chosen, unsigned n_ahead,
                            size_t n_bytes_max);
/* No readers, no jobs. */
void pfdd_render_cache_deinit(struct pfdd_render_cache *render_cache);

/* The page of an item that the ring has, with a reference; it may have to be
 * waited for: the readers that have it are woken. NULL: there is no room now. */
struct pfdd_rendered_block *pfdd_render_cache_get(
    struct pfdd_render_cache *render_cache, enum pfdd_form form, uint64_t seq);
/* Has those made that will be wanted soon, from an item on, if there is room, or
 * pages before it can make some. */
void pfdd_render_cache_prepare(struct pfdd_render_cache *render_cache,
                               enum pfdd_form form, uint64_t seq);
/* The page of a reader with a choice, from an item on; likewise. */
struct pfdd_rendered_block *pfdd_render_cache_choose(
    struct pfdd_render_cache *render_cache, struct pfdd_cursor *cursor,
    uint64_t seq);
/* The reader goes while its page is made, which has its choice and its quota
 * from now on. */
void pfdd_rendered_block_leave_behind(
    struct pfdd_rendered_block *rendered_block, struct pfdd_cursor *cursor);
/* NULL is allowed. */
void pfdd_rendered_block_unref(struct pfdd_rendered_block *rendered_block);

/* Room of the same share for something else that is made of the ring; what
 * nobody reads goes for it. False: there is none. */
bool pfdd_render_cache_reserve(struct pfdd_render_cache *render_cache,
                               size_t n);
void pfdd_render_cache_release(struct pfdd_render_cache *render_cache,
                               size_t n);

/* Now and then: readers that wait for room try again, and what has waited to be
 * collapsed for long enough is said. */
void pfdd_render_cache_kick(struct pfdd_render_cache *render_cache);

/* On a worker: makes its text. */
void pfdd_rendered_block_render(struct pfdd_rendered_block *rendered_block);

/* A page of chunks that are no ring's, which follow one another, from an item
 * on: of entries, else of JSON, or of notes where a choice (NULL: everything) has
 * an encoding. Strings are not looked at where entries are all wanted and whole
 * chunks. It counts, and does not ask for room. Whoever has it rendered on a worker settles
 * it, on the loop, before it is read. NULL: out of memory. */
struct pfdd_rendered_block *pfdd_rendered_block_of(
    struct pfdd_render_cache *render_cache, struct pfdd_chunk *const *chunks,
    size_t n, struct pfdd_strings *strings,
    struct pfdd_render_choice *render_choice, uint64_t first, bool is_entries);
void pfdd_rendered_block_settle(struct pfdd_rendered_block *rendered_block);

void pfdd_render_choice_free(struct pfdd_render_choice *render_choice);

#endif
