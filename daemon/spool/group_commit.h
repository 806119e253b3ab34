/* SPDX-License-Identifier: MIT */
/*
 * Chunks of the ring that go to disk together (spool.h), and the buffers that
 * the segment they go to knows already. Loop thread only, but for
 * pfdd_batch_write().
 */
#ifndef PFDD_GROUP_COMMIT_H
#define PFDD_GROUP_COMMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/ring.h"
#include "spool/blob_store.h"
#include "spool/segments.h"

enum {
    PFDD_BATCH_CHUNKS = 256,
};

struct pfdd_batch {
    struct pfdd_batch_item {
        struct pfdd_chunk *chunk;     /* a reference */
        struct pfdd_strings *strings; /* likewise: what it is read with now */
        uint32_t place;
        char *description; /* of its buffer [n_description], owned; NULL: the
                              segment has it */
        size_t n_description;
        struct pfdd_stock stock; /* when it is written */
    } items[PFDD_BATCH_CHUNKS];  /* [n] */
    size_t n;
    size_t n_bytes; /* of all records */
    uint64_t end;   /* sequence number, behind the last item */
    struct pfdd_batch_place {
        struct pfdd_buffer *buffer; /* a reference; NULL: free */
        bool is_described;          /* in the segment */
        uint64_t stock;             /* that its chunks had last */
    } places[PFDD_PLACES];
    unsigned next_place; /* to be given to another buffer */
};

/* Takes chunks that follow one another, from an item on, which begins one.
 * False: out of memory; it has those before. */
bool pfdd_batch_gather(struct pfdd_batch *batch, const struct pfdd_ring *ring,
                       uint64_t seq);
/* Lets them go; they come again. */
void pfdd_batch_drop(struct pfdd_batch *batch);

/* On the disk's thread: 0, or an errno value. */
int pfdd_batch_write(struct pfdd_batch *batch, struct pfdd_segment_writer *w,
                     const char *dir, const struct pfdd_segment_place *place,
                     struct pfdd_kept *kept, const struct pfdd_kept_list *list);

/* All is on disk: lets them go. */
void pfdd_batch_done(struct pfdd_batch *batch);

/* Nothing is on its way. */
void pfdd_batch_deinit(struct pfdd_batch *batch);

/* The next one goes to another segment. */
void pfdd_batch_forget(struct pfdd_batch *batch);

/* The strings that buffers of a stock are read with, borrowed; NULL: there is
 * no such buffer. */
struct pfdd_strings *pfdd_batch_strings(const struct pfdd_batch *batch,
                                        uint64_t stock);

#endif
