/* SPDX-License-Identifier: MIT */
/*
 * Which of an edge's items have come: edges send again what was not said to be
 * written, so a stream may have them several times, and what a server has lost
 * may come later.
 */
#ifndef CLI_NATS_DEDUP_H
#define CLI_NATS_DEDUP_H

#include <stdbool.h>
#include <stdint.h>

#include "nats.h"

/* All zeros: none. */
struct nats_dedup {
    void *edges; /* a tree */
    size_t n_edges;
    uint64_t clock;     /* messages that were remembered */
    bool has_forgotten; /* edges, because there were too many */
    uint64_t n_missing; /* of places that are not remembered any more */
};
void nats_dedup_deinit(struct nats_dedup *seen);

/* Have all of the message's items come? */
bool nats_dedup_has(const struct nats_dedup *seen,
                    const struct nats_message *message);

/* Remembers the message's items. Where there are too many edges some are
 * forgotten that have been silent for long. False: out of memory. */
bool nats_dedup_take(struct nats_dedup *seen,
                     const struct nats_message *message);

/* Items that never came although others before and behind them did. */
uint64_t nats_dedup_missing(const struct nats_dedup *seen);

#endif
