/* SPDX-License-Identifier: MIT */
/*
 * Builds string sets on a worker: the shared set from the present shared one, a
 * producer's (producer.h) from its own. A build takes a limited processor time
 * and returns with work left, so that no producer waits long for the code
 * objects of another. It takes no more memory than it was given.
 *
 * Strings of evicted code objects stay in the shared set until that is renewed:
 * built anew, part by part, in builds that do other work as well.
 */
#ifndef PFDD_STRING_BUILD_H
#define PFDD_STRING_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/strings.h>

#include "ingest/code_object.h"
#include "ingest/producer.h"

struct pfdd_memory_budget;

struct pfdd_string_build {
    /* Given to the build. */
    struct pfd_strings *current;     /* the shared set */
    struct pfdd_catalogue *old;      /* code objects read before, a reference */
    struct pfdd_code *fresh;         /* to be read, a list */
    struct pfdd_code_index index;    /* of code objects read before */
    struct pfdd_producer *producers; /* producers whose sets may change, by
                                        next_built */
    struct pfd_strings *renewed; /* the renewed set, which replaces current once
                                    it is complete; NULL: none */
    bool begins;                 /* this is the first build of the renewed
                                    set */
    size_t renewal_room;         /* bytes that the renewed set may still take */
    size_t room;                 /* bytes that the build may take, */
    size_t last;                 /* and more for producers that have little */
    size_t uri_room;             /* bytes of code objects that URIs name */
    /* Results. `fresh` has only objects that were taken. */
    struct pfdd_code *undone;
    struct pfd_strings *set; /* the next shared set; NULL: nothing is new */
    bool is_renewed;         /* it is renewed: evicted objects are gone */
    bool lacks_room;         /* too little memory for the renewed set */
};

/* On the loop, when `fresh` is known: sets the memory that the build may take.
 * The string store has n_taken of n_max bytes. Returns the sum. */
size_t pfdd_string_build_give_room(struct pfdd_string_build *b,
                                   const struct pfdd_memory_budget *budget,
                                   size_t n_taken, size_t n_max,
                                   const struct pfdd_producer *producers);

void pfdd_string_build_run(struct pfdd_string_build *b);

/* Bytes that a set built from this one takes at once. */
size_t pfdd_string_build_cost(const struct pfd_strings *of);

#endif
