/* SPDX-License-Identifier: MIT */
/*
 * Fetches the last acknowledgement that another worker has given to an edge,
 * and remembers for which edges the loop has it.
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
        unsigned term; /* of the partition, at that time */
    } edges[PFDD_BROUGHT];
    unsigned next; /* the next to be overwritten */
};

/* Hands over the acknowledgement of an edge, once in a term of its partition.
 * False: try again later. */
bool pfdd_nats_edge_acks_bring(
    struct pfdd_nats_edge_acks *brought, struct pfdd_nats *line,
    const struct pfdd_worker_message *entries, unsigned term,
    void (*give)(void *user, struct pfdd_worker_message *worker_message),
    void *user);

#endif
