/* SPDX-License-Identifier: MIT */
/*
 * Sets of strings, made by a worker: everybody's goes on from the one that
 * there is, a scope's (producer.h) from its own. A build takes some processor time
 * and comes back, whatever is left to do, so that nobody waits for somebody
 * else's code objects for long; and no more memory than it was given.
 *
 * What has gone from the library is in everybody's set until that is made anew,
 * part by part, in builds that do other things as well.
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
    /* What there is and what to do. */
    struct pfd_strings *current;  /* everybody's set */
    struct pfdd_catalogue *old;   /* what has been read before, a reference */
    struct pfdd_code *fresh;      /* to be read, a list */
    struct pfdd_code_index index; /* of what has been read before */
    struct pfdd_producer *producers; /* whose sets may change, by next_built */
    struct pfd_strings *renewed; /* that takes the place of current when it has
                                    all; NULL: there is none */
    bool begins;                 /* this is the first build of it */
    size_t renewal_room;         /* bytes that it may take beyond what it has */
    size_t room;                 /* bytes that it may take, */
    size_t last;                 /* and more for those who have little */
    size_t uri_room;             /* of these: of what URIs name */
    /* What has been done: of `fresh` those are left that have been. */
    struct pfdd_code *undone;
    struct pfd_strings *set; /* everybody's next one; NULL: nothing is new */
    bool is_renewed;         /* it lacks what has gone */
    bool lacks_room;         /* there was too little for the renewed one */
};

/* Memory that it may take, when `fresh` is known: the library has n_taken of
 * n_max bytes. Returns how much in all; on the loop. */
size_t pfdd_string_build_give_room(struct pfdd_string_build *b,
                                   const struct pfdd_memory_budget *budget,
                                   size_t n_taken, size_t n_max,
                                   const struct pfdd_producer *producers);

void pfdd_string_build_run(struct pfdd_string_build *b);

/* What making a set of another one takes at once. */
size_t pfdd_string_build_cost(const struct pfd_strings *of);

#endif
