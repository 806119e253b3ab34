/* SPDX-License-Identifier: MIT */
/*
 * A batch of the ring's chunks that are written to disk together (spool.h), and
 * the buffers that the current segment has described. Loop thread only, except
 * pfdd_group_commit_write().
 */
#ifndef PFDD_GROUP_COMMIT_H
#define PFDD_GROUP_COMMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/ring.h"
#include "spool/blob_store.h"
#include "spool/spool_records.h"

enum {
    PFDD_GROUP_COMMIT_CHUNKS = 256,
};

struct pfdd_group_commit {
    struct pfdd_group_commit_item {
        struct pfdd_chunk *chunk;     /* a reference */
        struct pfdd_strings *strings; /* likewise, to decode it now */
        uint32_t place;
        /* of its buffer [n_description], owned; NULL: the segment has it */
        char *description;
        size_t n_description;
        struct pfdd_manifest manifest; /* set when it is written */
    } items[PFDD_GROUP_COMMIT_CHUNKS]; /* [n] */
    size_t n;
    size_t n_bytes; /* of all records */
    uint64_t end;   /* sequence number behind the last item */
    struct pfdd_group_commit_place {
        struct pfdd_buffer *buffer; /* a reference; NULL: free */
        bool is_described;          /* the segment has its description */
        uint64_t last_manifest;     /* the last manifest of its chunks */
    } places[PFDD_PLACES];
    unsigned next_place; /* the next to be reused */
};

/* Gathers consecutive chunks, beginning with the one that begins with item seq.
 * False: out of memory; the chunks before that are gathered. */
bool pfdd_group_commit_gather(struct pfdd_group_commit *group_commit,
                              const struct pfdd_ring *ring, uint64_t seq);
/* Drops the chunks; they will be gathered again. */
void pfdd_group_commit_drop(struct pfdd_group_commit *b);

/* On the disk thread. 0, or an errno value. */
int pfdd_group_commit_write(struct pfdd_group_commit *b,
                            struct pfdd_segment_writer *w, const char *dir,
                            const struct pfdd_segment_place *place,
                            struct pfdd_blob_store *blob_store,
                            const struct pfdd_blob_store_list *list);

/* Drops the chunks; all of them are on disk. */
void pfdd_group_commit_done(struct pfdd_group_commit *b);

/* No write may be in flight. */
void pfdd_group_commit_deinit(struct pfdd_group_commit *b);

/* The next batch begins a new segment. */
void pfdd_group_commit_forget(struct pfdd_group_commit *b);

/* The strings that buffers of a manifest are decoded with now, borrowed. NULL:
 * there is no such buffer. */
struct pfdd_strings *pfdd_group_commit_strings(
    const struct pfdd_group_commit *b, uint64_t stock);

#endif
