/* SPDX-License-Identifier: MIT */
/* What a session counts of what comes out, and which of it was told. */
#ifndef PFDD_FOLLOWER_STATS_H
#define PFDD_FOLLOWER_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include <printfdecode/chunk.h>
#include <printfdecode/tail.h>

#include "base/buffer_stats.h"
#include "base/log.h"
#include "ring/source_table.h"

/* Of all buffers. */
struct pfdd_outcome {
    struct pfdd_buffer_stats buffer_stats;
    struct pfdd_log_topic told_well; /* what became of them */
    struct pfdd_log_topic told_bad;
};

/* All zeros: nothing has come. */
struct pfdd_follower_stats {
    /* A worker's, while it has a job. */
    struct pfdd_buffer_stats all;
    struct pfdd_buffer_stats ended; /* the same, up to the present generation */
    uint64_t generation;            /* of the item before */
    struct pfdd_source_troubles unknown; /* ids of entries, no more */
    /* The loop's. */
    struct pfdd_buffer_stats counted; /* in those of all */
    struct pfdd_buffer_stats told;    /* in the log */
    struct pfdd_buffer_stats given;   /* what came decoded, counted at once */
};

/* On a worker: an item; entries [n] of a run; the bytes of a tail that no item
 * says; an item is of another generation, perhaps. */
void pfdd_follower_stats_item(struct pfdd_follower_stats *s,
                              const struct pfd_tail_item *item);
void pfdd_follower_stats_entries(struct pfdd_follower_stats *s, size_t n);
void pfdd_follower_stats_bytes(struct pfdd_follower_stats *s,
                               const struct pfd_tail *tail);
void pfdd_follower_stats_at(struct pfdd_follower_stats *s,
                            const struct pfd_tail *tail, uint64_t generation);

/* On the loop, while no job has them: what has gone wrong that is not counted
 * yet, in a buffer of so many bytes. */
void pfdd_follower_stats_troubles(const struct pfdd_follower_stats *s,
                                  uint64_t n_buffer,
                                  struct pfdd_source_troubles *ret);

/* On the loop: adds what is new to that of all. */
void pfdd_follower_stats_count(struct pfdd_follower_stats *s,
                               struct pfdd_outcome *all);

/* On the loop: a chunk of so many, that others have decoded. */
void pfdd_follower_stats_give(struct pfdd_follower_stats *s,
                              struct pfdd_outcome *all,
                              const struct pfd_chunk_counts *counts);

/* Says in the log what became of all of it; of a generation that has ended, if
 * something went wrong: buffers may begin anew many times a second. */
void pfdd_follower_stats_tell_end(const struct pfdd_follower_stats *s,
                                  struct pfdd_outcome *all, const char *name);
void pfdd_follower_stats_tell_ended(struct pfdd_follower_stats *s,
                                    struct pfdd_outcome *all, const char *name);

#endif
