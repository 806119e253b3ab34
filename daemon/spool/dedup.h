/* SPDX-License-Identifier: MIT */
/*
 * The chunks that are in the queue on disk already when it is opened, so that
 * what an edge sends again after a restart is known. A mark is of a chunk's
 * bytes and time. Loop thread only.
 */
#ifndef PFDD_DEDUP_H
#define PFDD_DEDUP_H

#include <stddef.h>
#include <stdint.h>

#include "spool/consumer.h"

struct pfdd_dedup_mark {
    uint64_t value;
    uint64_t end; /* sequence number behind the chunk, ours; 0: it was found */
};

/* All zeros: none. */
struct pfdd_dedup {
    struct pfdd_dedup_mark *items; /* [n], by value */
    size_t n;
    size_t size;
    size_t n_left; /* that were not found */
};

void pfdd_dedup_deinit(struct pfdd_dedup *dedup);

/* Of all that a consumer has not acknowledged. Waits for the disk. */
void pfdd_dedup_read(const struct pfdd_consumer *consumer,
                     struct pfdd_dedup *ret);

uint64_t pfdd_dedup_mark_of(uint64_t time, const void *bytes, size_t n);

/* The sequence number behind the chunk of that mark, which is taken out; of
 * several the first one's. 0: there is none. */
uint64_t pfdd_dedup_find(struct pfdd_dedup *dedup, uint64_t value);

#endif
