/* SPDX-License-Identifier: MIT */
/*
 * Recognizes chunks that an edge sends again after a restart: marks of the
 * chunks that were in the spool when it was opened. A mark is a hash of a
 * chunk's time and bytes. Loop thread only.
 */
#ifndef PFDD_RESEND_DEDUP_H
#define PFDD_RESEND_DEDUP_H

#include <stddef.h>
#include <stdint.h>

#include "spool/consumer.h"

struct pfdd_resend_dedup_mark {
    uint64_t value;
    uint64_t end; /* sequence number behind the chunk; 0: already found */
};

/* All zeros: none. */
struct pfdd_resend_dedup {
    struct pfdd_resend_dedup_mark *items; /* [n], by value */
    size_t n;
    size_t size;
    size_t n_left; /* marks that were not found yet */
};

void pfdd_resend_dedup_deinit(struct pfdd_resend_dedup *dedup);

/* Reads the marks of all chunks that a consumer has not acknowledged. Waits for
 * the disk. */
void pfdd_resend_dedup_read(const struct pfdd_consumer *consumer,
                            struct pfdd_resend_dedup *ret);

uint64_t pfdd_resend_dedup_mark_of(uint64_t time, const void *bytes, size_t n);

/* Takes out the first chunk with this mark: the sequence number behind it. 0:
 * there is none. */
uint64_t pfdd_resend_dedup_find(struct pfdd_resend_dedup *dedup,
                                uint64_t value);

#endif
