/* SPDX-License-Identifier: MIT */
/*
 * Chunks of the ring that go to disk together (spool.h), and the buffers that
 * the segment they go to knows already. Loop thread only, but for
 * pfdd_group_commit_write().
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
    PFDD_GROUP_COMMIT_CHUNKS = 256,
};

struct pfdd_group_commit {
    struct pfdd_group_commit_item {
        struct pfdd_chunk *chunk;     /* a reference */
        struct pfdd_strings *strings; /* likewise: what it is read with now */
        uint32_t place;
        char *description; /* of its buffer [n_description], owned; NULL: the
                              segment has it */
        size_t n_description;
        struct pfdd_manifest manifest; /* when it is written */
    } items[PFDD_GROUP_COMMIT_CHUNKS]; /* [n] */
    size_t n;
    size_t n_bytes; /* of all records */
    uint64_t end;   /* sequence number, behind the last item */
    struct pfdd_group_commit_place {
        struct pfdd_buffer *buffer; /* a reference; NULL: free */
        bool is_described;          /* in the segment */
        uint64_t stock;             /* that its chunks had last */
    } places[PFDD_PLACES];
    unsigned next_place; /* to be given to another buffer */
};

/* Takes chunks that follow one another, from an item on, which begins one.
 * False: out of memory; it has those before. */
bool pfdd_group_commit_gather(struct pfdd_group_commit *group_commit,
                              const struct pfdd_ring *ring, uint64_t seq);
/* Lets them go; they come again. */
void pfdd_group_commit_drop(struct pfdd_group_commit *group_commit);

/* On the disk's thread: 0, or an errno value. */
int pfdd_group_commit_write(struct pfdd_group_commit *group_commit,
                            struct pfdd_segment_writer *w, const char *dir,
                            const struct pfdd_segment_place *place,
                            struct pfdd_blob_store *blob_store,
                            const struct pfdd_blob_store_list *list);

/* All is on disk: lets them go. */
void pfdd_group_commit_done(struct pfdd_group_commit *group_commit);

/* Nothing is on its way. */
void pfdd_group_commit_deinit(struct pfdd_group_commit *group_commit);

/* The next one goes to another segment. */
void pfdd_group_commit_forget(struct pfdd_group_commit *group_commit);

/* The strings that buffers of a stock are read with, borrowed; NULL: there is
 * no such buffer. */
struct pfdd_strings *pfdd_group_commit_strings(
    const struct pfdd_group_commit *group_commit, uint64_t stock);

#endif
