/* SPDX-License-Identifier: MIT */
/*
 * The string set that each chunk is read with (binding.h): the shared one, or
 * that of a producer with code objects of its own. When a build
 * (string_build.h) has made new sets, bindings move on to them. Loop thread
 * only.
 */
#ifndef PFDD_STRING_SETS_H
#define PFDD_STRING_SETS_H

#include <stdbool.h>
#include <stddef.h>

#include "ingest/producer.h"
#include "ring/binding.h"

struct pfdd_string_sets {
    struct pfdd_binding *current; /* the shared one */
    struct pfdd_bindings behind;  /* left with older sets after an eviction */
};

/* False: out of memory. */
bool pfdd_string_sets_init(struct pfdd_string_sets *string_sets);
void pfdd_string_sets_deinit(struct pfdd_string_sets *string_sets);

/* The binding of a producer's buffers; NULL: of buffers without a producer. */
struct pfdd_binding *pfdd_string_sets_bind(struct pfdd_string_sets *string_sets,
                                           struct pfdd_producer *producer);

/* Takes over the next shared set; NULL: there is none. lacks: it lacks some of
 * the present one. Those of `producers` (by next) without a set of their own
 * move on to it. */
void pfdd_string_sets_take(struct pfdd_string_sets *string_sets,
                           struct pfd_strings *set, bool lacks,
                           struct pfdd_producer *producers);

/* Takes the set that a build has made for a producer. */
void pfdd_string_sets_take_own(struct pfdd_string_sets *string_sets,
                               struct pfdd_producer *s);

/* Its code objects in `all` stay with its set. */
void pfdd_string_sets_hold_own(struct pfdd_producer *producer,
                               const struct pfdd_catalogue *all);

/* Releases a reference to a catalogue (chunk_objects.h). */
void pfdd_string_sets_close(void *user, const void *catalogue);

/* Bytes of the shared set, and of older sets that chunks use; their code
 * objects are counted by the string store (string_store.h). */
size_t pfdd_string_sets_memory(const struct pfdd_string_sets *string_sets);

#endif
