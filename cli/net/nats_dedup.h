/* SPDX-License-Identifier: MIT */
/*
 * Which items of each edge were received. Edges resend unacknowledged items, so
 * a stream may hold them several times, and items that a server lost may come
 * later.
 */
#ifndef CLI_NATS_DEDUP_H
#define CLI_NATS_DEDUP_H

#include <stdbool.h>
#include <stdint.h>

#include "nats.h"

/* All zeros: empty. */
struct nats_dedup {
    void *edges; /* a tree */
    size_t n_edges;
    uint64_t clock;     /* number of messages so far */
    bool has_evicted;   /* edges were evicted */
    uint64_t n_missing; /* missing items in gaps that were forgotten */
};
void nats_dedup_deinit(struct nats_dedup *seen);

/* Were all items of the message received before? */
bool nats_dedup_has(const struct nats_dedup *seen,
                    const struct nats_message *message);

/* Marks the message's items as received. Evicts the edges that have been silent
 * longest when there are too many. False: out of memory. */
bool nats_dedup_take(struct nats_dedup *seen,
                     const struct nats_message *message);

/* Items that were never received, although items before and after them were. */
uint64_t nats_dedup_missing(const struct nats_dedup *seen);

#endif
