/* SPDX-License-Identifier: MIT */
/*
 * The edges of which a worker's loop has the last acknowledgement that another
 * worker has given, as far as they are remembered.
 */
#ifndef PFDD_NATS_EDGE_ACKS_H
#define PFDD_NATS_EDGE_ACKS_H

#include "nats/nats_fetch.h"

enum {
    PFDD_BROUGHT = 4096, /* edges that are remembered */
};

/* All zeros: none. */
struct pfdd_nats_edge_acks {
    struct {
        char edge[PFDD_EDGE_NAME];
        unsigned partition;
        unsigned term; /* how often the partition had come, then */
    } edges[PFDD_BROUGHT];
    unsigned next; /* that is forgotten */
};

/* Gives the acknowledgement of an edge, unless it has come in this term of the
 * partition. False: not now. */
bool pfdd_nats_edge_acks_bring(
    struct pfdd_nats_edge_acks *brought, struct pfdd_nats *line,
    const struct pfdd_worker_message *entries, unsigned term,
    void (*give)(void *user, struct pfdd_worker_message *worker_message),
    void *user);

#endif
