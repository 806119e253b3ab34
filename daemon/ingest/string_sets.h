/* SPDX-License-Identifier: MIT */
/*
 * Which set of strings each chunk is read with (binding.h): everybody's, or one
 * of a scope that has code objects of its own. When a build (string_build.h) has made
 * new ones, bindings go on to them. Loop thread only.
 */
#ifndef PFDD_STRING_SETS_H
#define PFDD_STRING_SETS_H

#include <stdbool.h>
#include <stddef.h>

#include "ingest/producer.h"
#include "ring/binding.h"

struct pfdd_string_sets {
    struct pfdd_binding *current; /* everybody's */
    struct pfdd_bindings behind;  /* of chunks, when something went */
};

/* False: out of memory. */
bool pfdd_string_sets_init(struct pfdd_string_sets *string_sets);
void pfdd_string_sets_deinit(struct pfdd_string_sets *string_sets);

/* What a scope's buffers are read with; NULL: those of no scope. */
struct pfdd_binding *pfdd_string_sets_bind(struct pfdd_string_sets *string_sets,
                                           struct pfdd_producer *producer);

/* Everybody's next set, which is taken over; NULL: there is none. lacks: it has
 * not all that the present one has. Those of `scopes` (by next) that have none
 * of their own go on to it. */
void pfdd_string_sets_take(struct pfdd_string_sets *string_sets,
                           struct pfd_strings *set, bool lacks,
                           struct pfdd_producer *producers);

/* What a build has made for a scope. */
void pfdd_string_sets_take_scope(struct pfdd_string_sets *string_sets,
                                 struct pfdd_producer *producer);

/* Its code objects, of these, stay with its set. */
void pfdd_string_sets_hold_own(struct pfdd_producer *producer,
                               const struct pfdd_catalogue *all);

/* A reference to a catalogue that somebody was handed goes. */
void pfdd_string_sets_close(void *user, const void *catalogue);

/* Bytes of everybody's, and of those that chunks have beside it; their code
 * objects are counted with all others (string_store.h). */
size_t pfdd_string_sets_memory(const struct pfdd_string_sets *string_sets);

#endif
