/* SPDX-License-Identifier: MIT */
/*
 * Makes worker messages of stored messages (nats_connection.h). Calls may wait
 * for the network.
 */
#ifndef PFDD_NATS_FETCH_H
#define PFDD_NATS_FETCH_H

#include "nats/nats_connection.h"
#include "nats/worker_message.h"
#include "remote/stored_message.h"

/* Of entries, from a message of GPULOG, whose bytes it takes. NULL: not a
 * message of an edge, or out of memory. */
struct pfdd_worker_message *pfdd_fetch_entries(
    struct pfd_stored_message *message);

/* Of an acknowledgement, from a message of GPUACK. NULL likewise. */
struct pfdd_worker_message *pfdd_fetch_ack(
    const struct pfd_stored_message *message);

/*
 * Fetches the last acknowledgement that another worker has given to an edge,
 * and remembers for which edges the loop has it.
 */

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
