/* SPDX-License-Identifier: MIT */
/*
 * Parcels of what lies at servers of NATS (nats_connection.h). Calls may wait for the
 * network.
 */
#ifndef PFDD_NATS_FETCH_H
#define PFDD_NATS_FETCH_H

#include "nats/nats_get.h"
#include "nats/worker_message.h"

/* Entries, of a message of GPULOG. NULL: it is none of an edge, or out of
 * memory. Takes the bytes out of the message. */
struct pfdd_worker_message *pfdd_fetch_entries(
    struct pfdd_nats_stored_message *message);

/* How far an edge is, of a message of GPUACK; likewise. */
struct pfdd_worker_message *pfdd_fetch_ack(
    const struct pfdd_nats_stored_message *message);

/* Gives that of an edge, if there is one, whose the parcel is then. False: not
 * now. */
bool pfdd_fetch_edge(struct pfdd_nats *line, const char *edge,
                     void (*give)(void *user,
                                  struct pfdd_worker_message *worker_message),
                     void *user);

#endif
