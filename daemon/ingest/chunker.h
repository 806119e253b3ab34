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
struct pfdd_chunk_batch {
    struct pfdd_chunk *first;
    struct pfdd_chunk **end;
    size_t n;           /* bytes */
    uint64_t n_entries; /* of them */
    uint64_t lost;      /* entries that there was no memory for */
};

void pfdd_chunk_batch_init(struct pfdd_chunk_batch *chunk_batch);
/* `to`, which has none, has what `from` had. */
void pfdd_chunk_batch_move(struct pfdd_chunk_batch *to,
                           struct pfdd_chunk_batch *from);
void pfdd_chunk_batch_drop(struct pfdd_chunk_batch *chunk_batch);

enum {
    PFDD_GIVEN_MAX = 256 * 1024, /* bytes of a chunk that others have made */
};

/* Adds a chunk that came in an `entries` frame, which has so many items. False:
 * out of memory. */
bool pfdd_chunk_batch_add(struct pfdd_chunk_batch *chunk_batch,
                          const struct pfd_wire_frame *frame,
                          const struct pfd_chunk_counts *counts);

struct pfdd_chunker {
    struct pfd_chunk_writer *writer;
    struct pfdd_contents contents; /* of the chunk that is being written */
    struct pfdd_chunk_batch chunk_batch;
};

/* False: out of memory; to be deinited all the same. */
bool pfdd_chunker_init(struct pfdd_chunker *chunker);
void pfdd_chunker_deinit(struct pfdd_chunker *chunker);

/* Entries of a run from number `from` on, as many as fit into a chunk: the next
 * one. generation: theirs; below, of the item. */
size_t pfdd_chunker_put_run(struct pfdd_chunker *chunker,
                            const struct pfd_entry_run *entry_run, size_t from,
                            uint64_t generation);
/* Entries of runs that come together, as chunks of their own, which the tail's
 * helpers make: from its pfd_tail_runs_fn. */
void pfdd_chunker_put_runs(struct pfdd_chunker *chunker, struct pfd_tail *tail,
                           const struct pfd_entry_run *const *entry_runs,
                           size_t n, uint64_t generation);
void pfdd_chunker_put(struct pfdd_chunker *chunker,
                      const struct pfd_tail_item *item, uint64_t generation);

/* Ends the chunk that is being written, if there is one. */
void pfdd_chunker_cut(struct pfdd_chunker *chunker);

bool pfdd_chunker_has_entries(const struct pfdd_chunker *chunker);

#endif
