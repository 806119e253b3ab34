/* SPDX-License-Identifier: MIT */
/*
 * Leases, by which workers share the partitions. A lease is one message in
 * GPULEASE. It can only be replaced by a worker that knows its number, and
 * expires after some seconds. So a partition has one worker at a time, and each
 * worker sees how many there are.
 *
 * A message is a valid lease if it names a worker that has a message of its own
 * in GPULEASE. Other messages block nothing: the worker that has the partition
 * renews its lease over them; a free partition is taken once a lease would have
 * expired. A worker that takes none of the partitions that are left to it does
 * not count for a while, so that other workers take them. Calls may wait for
 * the network.
 */
#ifndef PFDD_NATS_LEASE_H
#define PFDD_NATS_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "nats/nats_connection.h"
#include "remote/stored_message.h"

struct pfdd_leases {
    char worker[PFDD_EDGE_ID];             /* our id, new in each run */
    uint64_t tokens[PFDD_NATS_PARTITIONS]; /* numbers of our leases, or 0 */
    uint64_t present;                      /* number of our own message */
    uint64_t renewed;                      /* ms of the last renewal */
    uint64_t looked; /* ms of the last look at other leases */
    /* ms since when the partition is free; 0: it is not */
    uint64_t idle[PFDD_NATS_PARTITIONS];
    unsigned n_workers; /* with partitions, or about to take some; with us */
    uint64_t trusted;   /* ms; earlier, workers without partitions do not
                           count */
    uint64_t doubt_ms;  /* length of the next such period */
};

void pfdd_leases_init(struct pfdd_leases *leases);

/* Renews our leases when it is time, and takes free partitions up to our share.
 * *share: partitions that we should have. now: ms. False: try again later. In
 * any case, partitions whose renewal failed are not ours any more. */
bool pfdd_leases_look(struct pfdd_leases *leases, struct pfdd_nats *line,
                      uint64_t now, unsigned *share);

/* The partition in a subject of GPULEASE; -1: none. */
int pfdd_lease_partition(const char *subject);
/* The worker in one; NULL: none. Its message has its host and process. */
const char *pfdd_lease_worker(const char *subject);

/* Ends leases, so that other workers can take the partitions at once.
 * release_all: also our own message. */
void pfdd_leases_release(struct pfdd_leases *leases, struct pfdd_nats *line,
                         unsigned partition);
void pfdd_leases_release_all(struct pfdd_leases *leases,
                             struct pfdd_nats *line);

#endif
