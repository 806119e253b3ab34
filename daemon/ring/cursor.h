/* SPDX-License-Identifier: MIT */
/*
 * One reader of the ring: where it stands, which entries it wants, in which
 * form. It gives bytes to write and is told how many were written; when it has
 * fallen behind the ring, a gap record says how many items it missed. Knows no
 * sockets and no files. Loop thread only.
 */
#ifndef PFDD_CURSOR_H
#define PFDD_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader_quota.h"
#include "config/request.h"
#include "ring/preamble.h"
#include "ring/render_cache.h"
#include "ring/ring.h"

struct pfdd_cursor {
    struct pfdd_cursor *next; /* the ring's */
    struct pfdd_ring *ring;
    struct pfdd_render_cache *render_cache;
    enum pfdd_form form;
    struct pfdd_render_choice
        *render_choice; /* NULL: it wants all; owned, but for a page
                                   that is being made */
    uint64_t seq;       /* to go on with, while it has no page */
    struct pfdd_rendered_block
        *rendered_block; /* a reference; NULL: none yet */
    size_t item;         /* of the page, the first not taken whole */
    size_t at;           /* bytes of the page that were taken */
    bool waits;          /* for room for a page */
    bool is_called;      /* it waited, and may ask again */
    bool is_lent;        /* somebody writes bytes of it: they stay */
    bool is_over;        /* nothing comes any more */
    bool is_costly;      /* that is why: it was cut off */
    bool is_cut;         /* likewise: inside of what it did not take */
    const char *name;    /* for the log, borrowed; NULL: it is not spoken
                                   of */
    bool must_have_all;  /* the ring waits for it */
    uint64_t taken_ns;   /* uv_hrtime(), when it took something last */
    uint64_t entered_ns; /* likewise: when it got its page */
    uint64_t awaited_ns; /* likewise: when it was waited for last */
    uint64_t period_ns;  /* when the present period began */
    uint64_t waited_ns;  /* for so long in these */
    struct pfdd_reader_quota
        *reader_quota; /* of whose it is, a reference; NULL: the
                                 configuration's */
    size_t n_held;     /* bytes of the quota */
    /* Made here, not yet taken: gaps, the rest of a line. */
    char *out; /* [out_n], from out_at on */
    size_t out_at;
    size_t out_n;
    /* Of entries: what it has been told of, and how much of what the page speaks
     * of is among that. */
    struct pfdd_preamble preamble;
    size_t n_told;
    uint64_t missed; /* items, in all */
    uint64_t gaps;
    uint64_t lines;                           /* items that it had */
    void (*wake)(struct pfdd_cursor *cursor); /* there may be more; or NULL */
    void *user;
};

/* Begins at request->from; what is wanted is moved from the request, and what it
 * holds is of a quota, to which it takes a reference; NULL: of none. False:
 * there is no memory for it, or no more of the quota, and there is no reader. */
bool pfdd_cursor_init(struct pfdd_cursor *r,
                      struct pfdd_render_cache *render_cache,
                      struct pfdd_request *request);
bool pfdd_cursor_init_of(struct pfdd_cursor *r,
                         struct pfdd_render_cache *render_cache,
                         struct pfdd_request *request,
                         struct pfdd_reader_quota *reader_quota);
void pfdd_cursor_deinit(struct pfdd_cursor *r);

/*
 * Bytes to write, borrowed until the loop goes on, or as long as they are lent
 * (is_lent). False: there is nothing to write now.
 */
bool pfdd_cursor_peek(struct pfdd_cursor *r, const char **bytes, size_t *n);
void pfdd_cursor_consume(struct pfdd_cursor *r, size_t n);

/* Whoever takes items themselves, and no bytes, has those before this one. */
void pfdd_cursor_pass(struct pfdd_cursor *r, uint64_t seq);

/* True: it has had everything that there is, or was cut off. */
bool pfdd_cursor_is_done(const struct pfdd_cursor *r);

/* The sequence number of the first item that was not taken altogether. */
uint64_t pfdd_cursor_seq(const struct pfdd_cursor *r);

/* True when items are gone that it has not read, whether it knows or not. */
bool pfdd_cursor_has_missed(const struct pfdd_cursor *r);

/* Items that it has missed, also those that it does not know of yet. */
uint64_t pfdd_cursor_dropped(const struct pfdd_cursor *r);

/* True when it has taken something lately, takes all, and has not been waited
 * for too long; called again and again while it is waited for. */
bool pfdd_cursor_is_awaited(struct pfdd_cursor *r, uint64_t now_ns);

/* Bytes of its own: pages count by themselves. */
size_t pfdd_cursor_memory(const struct pfdd_cursor *r);

/* For the pages: wakes who waits for this one, or (NULL) for room: the one first
 * that has had none for the longest. */
void pfdd_cursors_wake(struct pfdd_ring *ring,
                       const struct pfdd_rendered_block *rendered_block);
/* Where the hindmost of those that share pages of a form stands; UINT64_MAX:
 * there is none. */
uint64_t pfdd_cursors_lowest(const struct pfdd_ring *ring, enum pfdd_form form);
/* Of those that collapse what they have: says what has waited for too long. */
void pfdd_cursors_end_runs(struct pfdd_ring *ring);
/* A reader that has begun a page and does not go on, or is slow, gives it back:
 * it keeps the rest of a line as its own, or, where its quota has no room for
 * that, ends with a word. Of all, or of those that choose. False: none has one. */
bool pfdd_cursors_let_go(struct pfdd_ring *ring, bool who_choose);

#endif
