/* SPDX-License-Identifier: MIT */
/*
 * The walk over a described ring. place.c finds its beginning, its end and what
 * was lost, entry.c reads one entry, resync.c finds the way again.
 */
#ifndef DESCRIBED_WALK_H
#define DESCRIBED_WALK_H

#include "layout.h"

struct ring {
    bool is_open;
    bool is_lost;
    bool is_none;
    uint64_t number[RING_NUMBERS];
    uint64_t counter;
    uint64_t wanted; /* first byte behind what was asked for; UINT64_MAX:
                        unknown */
    uint64_t end;    /* behind what is there of it */
    uint64_t held;   /* behind what was written, if less is; else 0 */
    uint64_t from;   /* where the way was lost */
    uint64_t next;   /* the next place to try */
    uint64_t lost_id;
};

/* An entry at a place, as far as its header says it. */
struct ring_entry {
    uint64_t id;
    const struct pfd_string *string; /* NULL: unknown */
    uint64_t n;                      /* bytes; 0: not known, or impossible */
};

static inline uint64_t ring_aligned(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Reads the description and the counter. PFD_OK, PFD_MORE or PFD_END. */
enum pfd_status ring_begin(struct pfd_walk *w, struct ring *st);
/* Is the counter no counter? */
bool ring_is_absurd(const struct pfd_walk *w, const struct ring *st);
/* Tells what the counter says that is not here. */
void ring_report_loss(struct pfd_walk *w, const struct ring *st);

/* The entry at a place; its header is in view. */
struct ring_entry ring_look(const struct pfd_walk *w, const struct ring *st,
                            uint64_t at);
/* Adds it to the batch; all of it is in view, at w->at. */
void ring_add_entry(struct pfd_walk *w, const struct ring *st,
                    const struct ring_entry *e);

/* Does the view hold the bytes that decide about a place? */
bool ring_sees_enough(const struct pfd_walk *w, const struct ring *st,
                      uint64_t at);
/* Zeros up to the end: without a counter, nothing; in a buffer that was too
 * small, the room that was left. */
bool ring_is_unwritten(const struct pfd_walk *w, const struct ring *st,
                       uint64_t from);
/* The entry at w->at, with this id, leads nowhere. */
void ring_lose_way(struct pfd_walk *w, struct ring *st, uint64_t id);
/* One step of the search for the next entry. PFD_OK or PFD_MORE. */
enum pfd_status ring_find_way(struct pfd_walk *w, struct ring *st);

#endif
