/* SPDX-License-Identifier: MIT */
/*
 * A producer as the library (string_store.h) knows it: its code objects that come
 * and that are here, the room that they take, and the set of strings that has
 * its shaders. Loop thread only, but for what a build (string_build.h) uses.
 */
#ifndef PFDD_PRODUCER_H
#define PFDD_PRODUCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/fair_queue.h"
#include "ring/binding.h"

struct pfdd_string_store;

struct pfdd_producer {
    struct pfdd_producer *next;
    struct pfdd_string_store *lib;
    unsigned refs;
    uint64_t number;
    struct pfdd_fair_queue_task
        fair_queue_task;      /* of its code objects that wait */
    struct pfdd_code **owned; /* [n_owned]: that it sent, and are here */
    size_t n_owned;
    size_t owned_room;
    size_t n_objects; /* in it */
    size_t n_coming;  /* code objects of its producer, read or built */
    size_t n_bytes;   /* of the library's room that its producer takes */
    struct pfdd_binding *binding; /* NULL: nobody has asked for it */
    bool has_set;                 /* of its own; otherwise it has everybody's */
    bool is_stale;                /* which has not all that everybody has, */
    bool is_awaited;              /* also of what its own producer sent */
    bool lacks; /* the next one has not all that this one has */
    /* The build's. */
    struct pfdd_producer *next_built;
    size_t last_room;        /* that is its alone, whatever others have */
    size_t share;            /* bytes that what it sent may have of sets */
    bool is_tried;           /* it was to be made anew, */
    bool is_refreshed;       /* and has been */
    struct pfd_strings *set; /* the next one; NULL: none */
};

/* Bytes of all room [n_max] that a producer always has. */
size_t pfdd_producer_floor(size_t n_max);
/* Bytes more that one may have that has n_own of them, where all have n_taken:
 * three times what it leaves for others then, and a floor. */
size_t pfdd_producer_share(size_t n_max, size_t n_taken, size_t n_own,
                           size_t floor);

/* It has sent a code object, which stays as long as it is here. */
void pfdd_producer_own(struct pfdd_producer *producer, struct pfdd_code *o);
/* It goes, and has none any more. */
void pfdd_producer_disown_all(struct pfdd_producer *producer);

/* All of them: a list, by `next`. What they take together is asked for again
 * and again. */
struct pfdd_producers {
    struct pfdd_producer *first;
    size_t n_bytes;  /* of the library's room that their producers take */
    size_t n_memory; /* bytes beside their code objects */
};

void pfdd_producers_put(struct pfdd_producers *all,
                        struct pfdd_producer *producer);
/* Frees the scope at this place of the list, and its code objects that wait
 * have gone. */
void pfdd_producers_drop(struct pfdd_producers *all, struct pfdd_producer **at);

/* n bytes of the library's room instead of n_before. */
void pfdd_producers_charge(struct pfdd_producers *all,
                           struct pfdd_producer *producer, size_t n_before,
                           size_t n);

/* Their sets, or what they own, have changed. */
void pfdd_producers_recount(struct pfdd_producers *all);

#endif
