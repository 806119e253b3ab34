/* SPDX-License-Identifier: MIT */
/*
 * A position in the ring, with the entries that are wanted and their form. Its
 * owner peeks at bytes, writes them and consumes them. When the ring has
 * evicted items that the cursor did not read, a gap record tells how many. A
 * cursor knows no sockets and no files. Loop thread only.
 */
#ifndef PFDD_CURSOR_H
#define PFDD_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/resource_account.h"
#include "config/request.h"
#include "ring/preamble.h"
#include "ring/render_cache.h"
#include "ring/ring.h"

/* Its own output that was not consumed yet: gaps, the rest of a line. */
struct pfdd_cursor_output {
    char *bytes; /* [n], from `at` on */
    size_t at;
    size_t n;
};

/* uv_hrtime() of what decides whether sources wait for it. */
struct pfdd_cursor_times {
    uint64_t taken_ns;   /* uv_hrtime() when it consumed bytes last */
    uint64_t entered_ns; /* uv_hrtime() when it entered its block */
    uint64_t awaited_ns; /* uv_hrtime() when sources waited for it last */
    uint64_t period_ns;  /* uv_hrtime() when the current period began */
    uint64_t waited_ns;  /* how long sources waited in this period */
};

struct pfdd_cursor {
    struct pfdd_ring_reader reader;
    struct pfdd_ring *ring;
    struct pfdd_render_cache *render_cache;
    enum pfdd_form form;
    /* NULL: all entries are wanted; owned, except while a block is being
     * rendered. */
    struct pfdd_render_choice *render_choice;
    uint64_t seq; /* next item, while it has entered no block */
    struct pfdd_rendered_block
        *rendered_block; /* a reference; NULL: none yet */
    bool has_entered;    /* the block is ready, item and at are set */
    size_t item;         /* of the block, the first not consumed whole */
    size_t at;           /* bytes of the block that were consumed */
    bool is_beyond;      /* the last block was full before its item */
    bool waits;          /* for memory for a block */
    bool is_called;      /* it waited, and may try again */
    bool is_lent;        /* a job writes bytes of the block: keep it */
    bool is_over;        /* the stream has ended */
    bool is_costly;      /* it was cut off for its processor time */
    bool is_cut;         /* it was cut off within unconsumed output */
    const char *name;    /* for the log, borrowed; NULL: not logged */
    /* Below its user's; below none: the cursor is the configuration's. */
    struct pfdd_resource_account account;
    struct pfdd_cursor_output out;
    struct pfdd_cursor_times times;
    /* Entries only: the preamble so far, and for how many buffers of the block
     * it is complete. */
    struct pfdd_preamble preamble;
    size_t n_announced;
    uint64_t missed; /* items, in total */
    uint64_t gaps;
    uint64_t lines;   /* items that it consumed, */
    uint64_t written; /* and without unwanted lines */
    /* Called when there may be more; or NULL. */
    void (*wake)(struct pfdd_cursor *cursor);
    void *user;
};

/* Begins at request->from and takes over request->wants. Memory is charged to
 * an account of the user `key` (users is NULL: to none). False: out of memory,
 * or the user may not have it; there is no cursor. */
bool pfdd_cursor_init(struct pfdd_cursor *r,
                      struct pfdd_render_cache *render_cache,
                      struct pfdd_request *request);
bool pfdd_cursor_init_of(struct pfdd_cursor *r,
                         struct pfdd_render_cache *render_cache,
                         struct pfdd_request *request,
                         struct pfdd_user_accounts *users,
                         const struct pfdd_peer_key *key);
void pfdd_cursor_deinit(struct pfdd_cursor *r);

/*
 * Bytes to write, borrowed until the loop continues, or as long as they are
 * lent (is_lent). False: there is nothing to write now.
 */
bool pfdd_cursor_peek(struct pfdd_cursor *r, const char **bytes, size_t *n);
void pfdd_cursor_consume(struct pfdd_cursor *r, size_t n);

/* For owners that read items instead of bytes: consumes the items before
 * seq. */
void pfdd_cursor_pass(struct pfdd_cursor *r, uint64_t seq);

/* True: it has consumed everything that there is, or was cut off. */
bool pfdd_cursor_is_done(const struct pfdd_cursor *r);

/* The sequence number of the first item that was not consumed whole. */
uint64_t pfdd_cursor_seq(const struct pfdd_cursor *r);

/* True: the ring has evicted items that it did not read, reported or not. */
bool pfdd_cursor_has_missed(const struct pfdd_cursor *r);

/* Items that it has missed, reported or not. */
uint64_t pfdd_cursor_dropped(const struct pfdd_cursor *r);

/* Bytes charged to its quota. Blocks are charged to the render cache. */
size_t pfdd_cursor_memory(const struct pfdd_cursor *r);

/* Its own output, what it filters and collapses: cursor_memory.c. Without a
 * quota it holds as much as it asks for. */

/* Bytes that it has. No block of its render choice is being rendered. */
size_t pfdd_cursor_bytes(const struct pfdd_cursor *r);
/* Holds n bytes instead of those before. False: its quota does not allow it,
 * and nothing has changed. */
bool pfdd_cursor_hold(struct pfdd_cursor *r, size_t n);
/* Likewise, for cursors that filter or collapse: leaves some for cursors of the
 * same user that do neither. */
bool pfdd_cursor_hold_sparing(struct pfdd_cursor *r, size_t n);
/* Holds what may wait, and what the filter may take, while a block is
 * rendered. */
void pfdd_cursor_hold_rooms(struct pfdd_cursor *r);

/* Its own output: records of gaps and errors, preambles, rows of its collapser,
 * the rest of a line whose block was taken back. It goes out before the
 * cursor's block. For cursor.c only: cursor_output.c. */

static inline struct pfdd_collapser *pfdd_cursor_collapser(
    const struct pfdd_cursor *r)
{
    return r->render_choice ? r->render_choice->collapser : NULL;
}

/* Appends bytes; the second for pfd_wire_write(), whose user is the cursor.
 * False: out of memory. */
bool pfdd_cursor_add_out(struct pfdd_cursor *r, const char *bytes, size_t n);
bool pfdd_cursor_add_bytes(void *user, const void *bytes, size_t n);

/* Skips items that it cannot read, and reports them. */
void pfdd_cursor_miss(struct pfdd_cursor *r, uint64_t missed,
                      const char *reason);
/* Ends the stream with an error. */
void pfdd_cursor_cut_off(struct pfdd_cursor *r, const char *why);

/* Charges everything that the cursor holds to its quota. If that fails, the
 * stream ends after the output that it has. */
void pfdd_cursor_charge(struct pfdd_cursor *r);
/* Likewise, after the block that it has: that was rendered already. */
void pfdd_cursor_charge_all(struct pfdd_cursor *r);

/* Flushes the collapser, whose rows are all before the current item. No block
 * is being rendered. */
void pfdd_cursor_flush_collapser(struct pfdd_cursor *r);

/* Called periodically: wakes cursors that wait for memory, the longest waiting
 * first, and flushes collapsed entries that have waited long enough. */
void pfdd_cursors_kick(struct pfdd_ring *ring);

/* The cursors of a ring, all its readers: the first one, and the next one;
 * NULL: there is none. */
static inline struct pfdd_cursor *pfdd_cursors_first(
    const struct pfdd_ring *ring)
{
    return (struct pfdd_cursor *)ring->readers;
}
static inline struct pfdd_cursor *pfdd_cursors_next(const struct pfdd_cursor *r)
{
    return (struct pfdd_cursor *)r->reader.next;
}

#endif
