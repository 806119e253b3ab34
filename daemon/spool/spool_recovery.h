/* SPDX-License-Identifier: MIT */
/*
 * What the folder of a queue has at the start: its segments, each up to its
 * last whole record, and what their records say. Any bytes are safe; what
 * cannot be read is cut off, and said.
 */
#ifndef PFDD_SPOOL_RECOVERY_H
#define PFDD_SPOOL_RECOVERY_H

#include <stdint.h>

#include "ring/source_offsets.h"
#include "spool/blob_store.h"
#include "spool/segments.h"

struct pfdd_spool_recovery {
    const char *dir;
    struct pfdd_blob_store *blob_store; /* told who speaks of what */
    struct pfdd_source_offsets
        *source_offsets;           /* made what the last entries say */
    struct pfdd_segments segments; /* what there is */
    uint64_t last;                 /* sequence number; 0: nothing */
    uint64_t cut;                  /* bytes that could not be read */
};

void pfdd_spool_recovery(struct pfdd_spool_recovery *spool_recovery);

#endif
