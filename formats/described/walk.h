/* SPDX-License-Identifier: MIT */
/*
 * The walk over a described ring. place.c finds its beginning, its end and what
 * was lost, entry.c reads one entry, resync.c finds the way again.
 *
 * Places of entries are bytes from the buffer's start. In a ring that begins
 * anew at its end, they go on behind that end (`fold`); ring_place() has the
 * byte.
 */
#ifndef DESCRIBED_WALK_H
#define DESCRIBED_WALK_H

#include <string.h>

#include "layout.h"

enum {
    /* Bytes that decide where the way goes on. */
    RING_RANGE = 64 * 1024,
    RING_LANES_LIMIT = 1024,   /* of an entry */
    RING_LANE_LIMIT = 1 << 16, /* units of its length that one has */
};

struct ring {
    bool is_open;
    bool is_lost;
    bool is_none;
    bool is_full;  /* a call that found no room left its mark */
    bool is_ring;  /* with positions; the view holds all of it */
    bool has_more; /* bytes behind the ring's end are not zeros */
    uint64_t number[RING_NUMBERS];
    uint64_t counter;
    uint64_t wanted;   /* first byte behind what was asked for; UINT64_MAX:
                          unknown */
    uint64_t at;       /* the next entry */
    uint64_t end;      /* behind what is there of it */
    uint64_t held;     /* behind what was written, if less is; else 0 */
    uint64_t from;     /* where the way was lost */
    uint64_t next;     /* the next place to try */
    uint64_t limit;    /* first byte behind the data; UINT64_MAX: the buffer's
                          end, or nobody wants to know what is behind */
    uint64_t capacity; /* bytes of data, of a ring */
    uint64_t fold;     /* behind the data, of a ring; else UINT64_MAX */
    uint64_t straight; /* words before it can be read at once */
    uint64_t seen;     /* bytes behind the ring's end were seen up to here */
    uint64_t n_entries;
    uint64_t n_own; /* of them, of its program: */
    uint32_t program;
    uint64_t n_lanes; /* of the entry at `at` that were added */
    uint64_t n_free;  /* bytes of free slots before `at` that calls asked for */
    uint64_t lost_id;
    uint64_t lost_stated; /* likewise ring_entry.stated and lanes */
    uint64_t lost_lanes;
    const char *why; /* the way was lost; NULL: because of these */
};

/* An entry at a place, as far as its header says it. */
struct ring_entry {
    uint64_t id;
    uint64_t key;                    /* described_key() of it */
    const struct pfd_string *string; /* NULL: unknown */
    uint64_t n;                      /* bytes; 0: not known, or impossible */
    uint64_t stated; /* units of its length, where it states them */
    uint64_t lanes;  /* 0: it has one, as all of its ring; */
    uint64_t lane;   /* and the bytes of each */
    enum {
        RING_MESSAGE,
        RING_FREE,  /* a slot, or bytes that are no message */
        RING_OTHER, /* likewise, and another program's entries are next */
        RING_AGAIN, /* the next entry is at the data's begin */
        RING_NONE,  /* a call found no room, and nothing is behind it */
    } kind;
};

static inline uint64_t ring_aligned(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static inline uint64_t ring_place(const struct ring *st, uint64_t at)
{
    return at < st->fold ? at : at - st->capacity;
}

static inline bool ring_has(const struct ring *st, enum ring_number field)
{
    return st->number[field + FIELD_BITS] != 0;
}

/* A word near the end of the view, or across the end of the ring. */
uint64_t ring_word_slowly(const struct pfd_walk *w, const struct ring *st,
                          uint64_t at, unsigned n);

/* A field of the header of an entry at a place, or of the buffer's (at 0); its
 * bytes are in view. */
static inline uint64_t ring_field(const struct pfd_walk *w,
                                  const struct ring *st, uint64_t at,
                                  enum ring_number field)
{
    const uint64_t *v = st->number + field;
    uint64_t from = at + v[FIELD_AT];
    uint64_t top = v[FIELD_SHIFT] + v[FIELD_BITS];
    uint64_t word =
        from + 8 <= st->straight
            ? pfd_walk_u64(w, from)
            : ring_word_slowly(w, st, from, (unsigned)(top + 7) / 8);
    return word >> v[FIELD_SHIFT] & (UINT64_MAX >> (64 - v[FIELD_BITS]));
}

/* Reads the description and the counter. PFD_OK, PFD_MORE or PFD_END. */
enum pfd_status ring_begin(struct pfd_walk *w, struct ring *st);
/* To be called when the view has changed. */
void ring_look_at_view(const struct pfd_walk *w, struct ring *st);
/* The first byte behind what a counter says was asked for, by a ring's numbers v.
 */
uint64_t ring_wanted(const uint64_t *v, uint64_t counter);
/* The positions of a ring of n bytes of data, by its numbers v and the fields
 * that its header has. */
struct ring_fields {
    uint64_t write;
    uint64_t read;
    uint64_t stall;
};
struct pfd_live_ring ring_positions(const uint64_t *v,
                                    const struct ring_fields *fields,
                                    uint64_t n);
/* The first byte behind the data, by a ring's numbers v and the field that says
 * it, if there is one; UINT64_MAX: the buffer's end. */
uint64_t ring_limit(const uint64_t *v, uint64_t field);
/* Bytes of data of a ring that begins anew, in a buffer of n_buffer bytes, by the
 * field that says them, if there is one; 0: not all of it is here. */
uint64_t ring_capacity(const uint64_t *v, uint64_t field, uint64_t n_buffer);
/* Bytes that the fields before the data take. */
uint64_t ring_header(const uint64_t *numbers);
/* Is the counter no counter? */
bool ring_is_absurd(const struct pfd_walk *w, const struct ring *st);
/* Tells what the counter says that is not here. */
void ring_report_loss(struct pfd_walk *w, const struct ring *st);
/* Looks at the bytes of the view that are behind the ring's end. */
void ring_look_behind(const struct pfd_walk *w, struct ring *st);
/* Tells of them, at the buffer's end. */
void ring_report_behind(struct pfd_walk *w, const struct ring *st);

/* The entry at a place; its header is in view. */
struct ring_entry ring_look(const struct pfd_walk *w, const struct ring *st,
                            uint64_t at);
/* Does a call that found no room say so at a place with n bytes? */
bool ring_is_full_at(const struct pfd_walk *w, const struct ring *st,
                     uint64_t at, uint64_t n);
/* Adds it, or its next lane, to the batch; all of it is in view, at st->at. */
void ring_add_entry(struct pfd_walk *w, struct ring *st,
                    const struct ring_entry *e);

/* Does the view hold the bytes that decide about a place? */
bool ring_sees_enough(const struct pfd_walk *w, const struct ring *st,
                      uint64_t at);
/* Are n bytes from a place on zeros? They are in view. */
bool ring_is_zero(const struct pfd_walk *w, const struct ring *st,
                  uint64_t from, uint64_t n);
/* Zeros up to the end: without a counter, nothing; in a buffer that was too
 * small, the room that was left. */
bool ring_is_unwritten(const struct pfd_walk *w, const struct ring *st,
                       uint64_t from);
/* The entry at st->at leads nowhere. */
void ring_lose_way(struct ring *st, const struct ring_entry *e);
/* One step of the search for the next entry. PFD_OK or PFD_MORE. */
enum pfd_status ring_find_way(struct pfd_walk *w, struct ring *st);

#endif
