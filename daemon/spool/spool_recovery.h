/* SPDX-License-Identifier: MIT */
/*
 * Recovers the spool at the start: finds its segments, cuts each off behind its
 * last whole record, and reads their records. Any bytes are safe; damage is
 * logged.
 */
#ifndef PFDD_SPOOL_RECOVERY_H
#define PFDD_SPOOL_RECOVERY_H

#include <stdint.h>

#include "ring/source_offsets.h"
#include "spool/blob_store.h"
#include "spool/spool_records.h"

struct pfdd_spool_recovery {
    const char *dir;
    struct pfdd_blob_store *blob_store; /* gets the segments' manifests */
    struct pfdd_source_offsets
        *source_offsets;           /* gets the offsets of the last entries */
    struct pfdd_segments segments; /* the result */
    uint64_t last;                 /* item's sequence number; 0: none */
    uint64_t cut;                  /* bytes that could not be read */
};

void pfdd_spool_recovery(struct pfdd_spool_recovery *spool_recovery);

#endif
