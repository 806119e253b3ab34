/* SPDX-License-Identifier: MIT */
/*
 * What a tail gives, made into chunks for the ring: on a worker, and then the
 * loop's. One thread at a time.
 */
#ifndef PFDD_CHUNKER_H
#define PFDD_CHUNKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/chunk.h>
#include <printfdecode/tail.h>

#include "ring/chunk.h"

/* Chunks that are done, in order. */
struct pfdd_made {
    struct pfdd_chunk *first;
    struct pfdd_chunk **end;
    size_t n;           /* bytes */
    uint64_t n_entries; /* of them */
    uint64_t lost;      /* entries that there was no memory for */
};

void pfdd_made_init(struct pfdd_made *made);
/* `to`, which has none, has what `from` had. */
void pfdd_made_move(struct pfdd_made *to, struct pfdd_made *from);
void pfdd_made_drop(struct pfdd_made *made);

enum {
    PFDD_GIVEN_MAX = 256 * 1024, /* bytes of a chunk that others have made */
};

/* Adds a chunk that came in an `entries` frame, which has so many items. False:
 * out of memory. */
bool pfdd_made_add(struct pfdd_made *made, const struct pfd_wire_frame *frame,
                   const struct pfd_chunk_counts *counts);

struct pfdd_maker {
    struct pfd_chunk_writer *writer;
    struct pfdd_contents contents; /* of the chunk that is being written */
    struct pfdd_made made;
};

/* False: out of memory; to be deinited all the same. */
bool pfdd_maker_init(struct pfdd_maker *maker);
void pfdd_maker_deinit(struct pfdd_maker *maker);

/* Entries of a run from number `from` on, as many as fit into a chunk: the next
 * one. generation: theirs; below, of the item. */
size_t pfdd_maker_put_run(struct pfdd_maker *maker,
                          const struct pfd_entry_run *entry_run, size_t from,
                          uint64_t generation);
/* Entries of runs that come together, as chunks of their own, which the tail's
 * helpers make: from its pfd_tail_runs_fn. */
void pfdd_maker_put_runs(struct pfdd_maker *maker, struct pfd_tail *tail,
                         const struct pfd_entry_run *const *entry_runs,
                         size_t n, uint64_t generation);
void pfdd_maker_put(struct pfdd_maker *maker, const struct pfd_tail_item *item,
                    uint64_t generation);

/* Ends the chunk that is being written, if there is one. */
void pfdd_maker_cut(struct pfdd_maker *maker);

bool pfdd_maker_has_entries(const struct pfdd_maker *maker);

#endif
