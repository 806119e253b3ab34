/* SPDX-License-Identifier: MIT */
/* Counts of the items that a follower emits, and of those already logged. */
#ifndef PFDD_FOLLOWER_STATS_H
#define PFDD_FOLLOWER_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include <printfdecode/capture.h>
#include <printfdecode/tail.h>

#include "base/buffer_stats.h"
#include "base/log.h"
#include "ring/source_table.h"
#include "stream/capture/chunk.h"

/* Of all buffers. */
struct pfdd_outcome {
    struct pfdd_buffer_stats buffer_stats;
    struct pfdd_log_topic told_well; /* buffers without trouble */
    struct pfdd_log_topic told_bad;
};

/* All zeros: no item yet. */
struct pfdd_follower_stats {
    /* Owned by the worker while a job runs. */
    struct pfdd_buffer_stats all;
    struct pfdd_buffer_stats ended; /* the same, up to the present generation */
    uint64_t generation;            /* of the previous item */
    struct pfdd_source_troubles unknown; /* only the ids of entries without a
                                            string */
    /* Owned by the loop. */
    struct pfdd_buffer_stats counted; /* added to struct pfdd_outcome */
    struct pfdd_buffer_stats logged;  /* logged */
    struct pfdd_buffer_stats decoded; /* chunks that came decoded, counted at
                                         once */
};

/* On a worker. Count an item; n entries of a run; the lost and skipped bytes of
 * a tail, which no item has; and begin a new generation if the item is of
 * another one. */
void pfdd_follower_stats_item(struct pfdd_follower_stats *s,
                              const struct pfd_tail_item *item);
void pfdd_follower_stats_entries(struct pfdd_follower_stats *s, size_t n);
void pfdd_follower_stats_bytes(struct pfdd_follower_stats *s,
                               const struct pfd_tail *tail);
void pfdd_follower_stats_at(struct pfdd_follower_stats *s,
                            const struct pfd_tail *tail, uint64_t generation);

/* On the loop, while no job runs: errors that are not counted yet, of a buffer
 * of n_buffer bytes. */
void pfdd_follower_stats_troubles(const struct pfdd_follower_stats *s,
                                  uint64_t n_buffer,
                                  struct pfdd_source_troubles *ret);

/* On the loop: adds new counts to `all`. */
void pfdd_follower_stats_count(struct pfdd_follower_stats *s,
                               struct pfdd_outcome *all);

/* On the loop: counts a chunk that its sender has decoded. */
void pfdd_follower_stats_add_chunk(struct pfdd_follower_stats *s,
                                   struct pfdd_outcome *all,
                                   const struct pfd_chunk_counts *counts);

/* Logs the counts of the whole buffer; of a generation that has ended only if
 * something went wrong, because buffers may restart many times a second. */
void pfdd_follower_stats_log_end(const struct pfdd_follower_stats *s,
                                 struct pfdd_outcome *all, const char *name);
void pfdd_follower_stats_log_generation(struct pfdd_follower_stats *s,
                                        struct pfdd_outcome *all,
                                        const char *name);

#endif
