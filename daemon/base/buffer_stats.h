/* SPDX-License-Identifier: MIT */
/*
 * Statistics of one buffer, or of all buffers: for the log and for /metrics.
 * Counts only grow.
 */
#ifndef PFDD_BUFFER_STATS_H
#define PFDD_BUFFER_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>

struct pfd_tail_item;

struct pfdd_buffer_stats {
    uint64_t entries;
    uint64_t unknown;
    uint64_t lost_bytes;    /* written beyond the end of a buffer */
    uint64_t skipped_bytes; /* that made no sense, or never came */
    uint64_t findings[PFD_N_FINDING_KINDS];
};

/* Counts an entry, when its line is rendered, or a finding. */
void pfdd_buffer_stats_item(struct pfdd_buffer_stats *buffer_stats,
                            const struct pfd_tail_item *item);

/* Adds the difference between `before` and `now`. */
void pfdd_buffer_stats_add(struct pfdd_buffer_stats *to,
                           const struct pfdd_buffer_stats *now,
                           const struct pfdd_buffer_stats *before);

/* True: bytes were lost, or something is in doubt. */
bool pfdd_buffer_stats_are_bad(const struct pfdd_buffer_stats *buffer_stats);

enum {
    PFDD_BUFFER_STATS_TEXT = 320
};
/* "64 entries, 0 unknown, 0 bytes lost, 12 skipped; 1 truncated_entry". Kinds
 * that do not fit become "and more". */
void pfdd_buffer_stats_text(const struct pfdd_buffer_stats *buffer_stats,
                            char ret[PFDD_BUFFER_STATS_TEXT]);

#endif
