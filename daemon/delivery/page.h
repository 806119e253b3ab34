/* SPDX-License-Identifier: MIT */
/*
 * Text that is made late: of the ring's chunks, on a worker, when the first
 * reader asks for it in its form; the next ones read the same page. What a
 * reader chooses by itself has pages of its own, made by other workers, so that
 * a choice that costs much delays nobody who makes none.
 *
 * All pages together have a share of the memory; what nobody reads goes first,
 * then what somebody has begun and does not take. Loop thread only.
 */
#ifndef PFDD_PAGE_H
#define PFDD_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/request.h"
#include "core/work.h"
#include "delivery/ring.h"

enum {
    PFDD_PAGE = 256 * 1024,      /* bytes of text, but for the last line */
    PFDD_LINE_MAX = 1024 * 1024, /* a longer line becomes a gap */
};

/* How entries are chosen for one reader, and what that has cost. The job's
 * while a page is made. */
struct pfdd_choice {
    struct pfdd_wants wants; /* owned */
    struct pfd_filter_run *run;
    struct pfdd_strings *strings; /* what run is for; a reference, the loop's */
    int64_t debt_ns;              /* more than what it may take */
};

struct pfdd_page {
    struct pfdd_job job;
    struct pfdd_pages *of;
    unsigned refs;
    enum pfdd_form form;
    bool is_shared;
    bool is_ready;
    bool has_failed;            /* there was no memory */
    uint64_t first;             /* sequence number */
    uint64_t end;               /* likewise, behind the last one; it may come
                                   nearer when the page is ready */
    struct pfdd_reader *reader; /* whose it is, if it is not shared; NULL: it
                                   has gone */
    char *text;                 /* [n] */
    size_t n;
    uint32_t *ends;   /* [end - first], bytes behind each item */
    size_t n_long;    /* lines that became gaps */
    size_t n_charged; /* of the share */
    /* The job's. */
    struct pfdd_strings *strings; /* a reference */
    struct pfdd_choice *choice;   /* NULL: everything */
    uint64_t full;                /* where it was full */
    size_t n_pieces;
    struct pfdd_chunk *pieces[]; /* [n_pieces], a reference to each */
};

struct pfdd_pages {
    struct pfdd_ring *ring;
    struct pfdd_pool *shared; /* makes pages; NULL: made at once */
    struct pfdd_pool *chosen; /* likewise, those of single readers */
    size_t n_bytes;
    size_t n_bytes_max;
    struct pfdd_page_list {
        struct pfdd_page **items; /* [n], by sequence number; a reference */
        size_t n;
        size_t size;
    } lists[PFDD_N_FORMS];
    uint64_t n_made; /* pages */
    uint64_t n_long; /* lines that became gaps */
};

/* pools: borrowed. */
void pfdd_pages_init(struct pfdd_pages *pages, struct pfdd_ring *ring,
                     struct pfdd_pool *shared, struct pfdd_pool *chosen,
                     size_t n_bytes_max);
/* No readers, no jobs. */
void pfdd_pages_deinit(struct pfdd_pages *pages);

/* The page of an item that the ring has, with a reference; it may have to be
 * waited for: the readers that have it are woken. NULL: there is no room now. */
struct pfdd_page *pfdd_pages_get(struct pfdd_pages *pages, enum pfdd_form form,
                                 uint64_t seq);
/* Has one made that will be wanted soon, if there is room. */
void pfdd_pages_prepare(struct pfdd_pages *pages, enum pfdd_form form,
                        uint64_t seq);
/* The page of a reader with a choice, from an item on; likewise. */
struct pfdd_page *pfdd_pages_choose(struct pfdd_pages *pages,
                                    struct pfdd_reader *reader, uint64_t seq);
/* NULL is allowed. */
void pfdd_page_unref(struct pfdd_page *page);

/* Readers that wait for room try again. */
void pfdd_pages_kick(struct pfdd_pages *pages);

/* On a worker: makes its text. */
void pfdd_page_render(struct pfdd_page *page);

void pfdd_choice_free(struct pfdd_choice *choice);

#endif
