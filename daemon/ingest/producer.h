/* SPDX-License-Identifier: MIT */
/*
 * A producer as the string store (string_store.h) knows it: its incoming and
 * present code objects, the space that they take, and the string set that has
 * its shaders. Loop thread only, except for the members that a build
 * (string_build.c) uses.
 */
#ifndef PFDD_PRODUCER_H
#define PFDD_PRODUCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/code_queue.h"
#include "ring/binding.h"

struct pfdd_string_store;

struct pfdd_producer {
    struct pfdd_producer *next;
    struct pfdd_string_store *lib;
    unsigned refs;
    uint64_t number;
    struct pfdd_code_queue code_queue; /* of its queued code objects */
    struct pfdd_code **owned; /* [n_owned]: present code objects that it sent */
    size_t n_owned;
    size_t owned_room;
    size_t n_objects; /* code objects that only its buffers use */
    size_t n_coming;  /* its code objects that are queued or being built */
    size_t n_bytes;   /* of the string store's space that it takes */
    struct pfdd_binding *binding; /* NULL: not requested yet */
    bool has_set;                 /* of its own; otherwise it uses the shared
                                     set */
    bool is_stale;                /* its set lacks objects of the shared one, */
    bool is_awaited;              /* also some that it sent itself */
    bool lacks; /* its next set lacks some of the present one */
    /* Owned by the build. */
    struct pfdd_producer *next_built;
    size_t last_room;        /* bytes that only this producer may take */
    size_t share;            /* bytes that its code objects may take of sets */
    bool is_tried;           /* a new set was attempted, */
    bool is_refreshed;       /* and was built */
    bool must_refresh;       /* by its new description messages are in objects
                                that were loaded before */
    bool reads_files;        /* its description says where objects have
                                messages; these take */
    size_t n_messages;       /* so many bytes of the present set, */
    size_t n_next_messages;  /* and of the next */
    struct pfd_strings *set; /* the next set; NULL: none */
};

/* Bytes of n_max that a producer always has. */
size_t pfdd_producer_floor(size_t n_max);

/* Makes the producer an owner of o, which it sent: o stays as long as the
 * producer does. */
void pfdd_producer_own(struct pfdd_producer *producer, struct pfdd_code *o);
/* The producer goes, and owns no code objects any more. */
void pfdd_producer_disown_all(struct pfdd_producer *producer);

/* All producers, a list linked by `next`, with totals, because these are
 * requested often. */
struct pfdd_producers {
    struct pfdd_producer *first;
    size_t n_bytes;  /* of the string store's space that they take */
    size_t n_memory; /* bytes beside their code objects */
};

void pfdd_producers_put(struct pfdd_producers *all,
                        struct pfdd_producer *producer);
/* Frees the producer at this place of the list. Its queue is empty. */
void pfdd_producers_drop(struct pfdd_producers *all, struct pfdd_producer **at);

/* Charges n bytes of the string store's space instead of n_before. */
void pfdd_producers_charge(struct pfdd_producers *all,
                           struct pfdd_producer *producer, size_t n_before,
                           size_t n);

/* Their sets, or the objects that they own, have changed: sums up n_memory
 * again. */
void pfdd_producers_recount(struct pfdd_producers *all);

#endif
