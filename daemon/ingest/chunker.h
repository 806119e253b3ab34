/* SPDX-License-Identifier: MIT */
/*
 * Builds chunks for the ring from the items of a tail. A worker fills the
 * chunker, then the loop takes the chunks. One thread at a time.
 */
#ifndef PFDD_CHUNKER_H
#define PFDD_CHUNKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/capture.h>
#include <printfdecode/tail.h>

#include "ring/chunk.h"
#include "stream/capture/chunk.h"

struct pfd_entry_run;

/* Finished chunks, in order. */
struct pfdd_chunk_batch {
    struct pfdd_chunk *first;
    struct pfdd_chunk **end;
    size_t n;           /* bytes */
    uint64_t n_entries; /* in these chunks */
    uint64_t lost;      /* entries dropped for lack of memory */
};

void pfdd_chunk_batch_init(struct pfdd_chunk_batch *chunk_batch);
/* Moves all chunks of `from` to `to`, which has none. */
void pfdd_chunk_batch_move(struct pfdd_chunk_batch *to,
                           struct pfdd_chunk_batch *from);
void pfdd_chunk_batch_drop(struct pfdd_chunk_batch *chunk_batch);

enum {
    PFDD_DECODED_CHUNK_MAX = 256 * 1024, /* bytes of a chunk that its sender has
                                    decoded */
};

/* Adds the chunk of an `entries` frame; counts: its items. False: out of
 * memory. */
bool pfdd_chunk_batch_add(struct pfdd_chunk_batch *chunk_batch,
                          const struct pfd_wire_frame *frame,
                          const struct pfd_chunk_counts *counts);

struct pfdd_chunker {
    struct pfd_chunk_writer *writer;
    struct pfdd_contents contents; /* of the chunk being written */
    struct pfdd_chunk_batch chunk_batch;
};

/* False: out of memory; to be deinitialized all the same. */
bool pfdd_chunker_init(struct pfdd_chunker *chunker);
void pfdd_chunker_deinit(struct pfdd_chunker *chunker);

/* Adds entries of a run from index `from` on, as many as fit into a chunk;
 * returns the index of the next one. generation: of these entries; below, of
 * the item. */
size_t pfdd_chunker_put_run(struct pfdd_chunker *chunker,
                            const struct pfd_entry_run *entry_run, size_t from,
                            uint64_t generation);
/* Adds the entries of several runs as chunks of their own, which the tail's
 * thread pool builds: to be called from its pfd_tail_runs_fn. */
void pfdd_chunker_put_runs(struct pfdd_chunker *chunker, struct pfd_tail *tail,
                           const struct pfd_entry_run *const *entry_runs,
                           size_t n, uint64_t generation);
void pfdd_chunker_put(struct pfdd_chunker *chunker,
                      const struct pfd_tail_item *item, uint64_t generation);

/* Finishes the chunk being written, if there is one. */
void pfdd_chunker_cut(struct pfdd_chunker *chunker);

bool pfdd_chunker_has_entries(const struct pfdd_chunker *chunker);

#endif
