/* SPDX-License-Identifier: MIT */
/*
 * The partitions of a worker: which of them are its own, by leases
 * (nats_lease.h), and how far each was read. A partition goes through terms: a
 * lease begins one; the loss of the lease, or its return to other workers, ends
 * it. Before a partition is given back, the loop finishes with it.
 *
 * Functions are the worker thread's, and may wait for the network, unless they
 * say otherwise.
 */
#ifndef PFDD_NATS_PARTITIONS_H
#define PFDD_NATS_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "nats/nats_connection.h"
#include "nats/nats_lease.h"
#include "nats/worker_message.h"

struct pfdd_partition {
    unsigned number;
    /* Written by the thread, under the mutex. */
    uint64_t leased; /* ms: the lease lasts until then; 0: not ours */
    /* Under the mutex. */
    bool is_left; /* the loop has finished with it */
    /* The thread's. */
    bool is_read; /* its term has begun */
    bool is_leaving;
    uint64_t position; /* number in the stream, of the last message */
    unsigned term;     /* how often it has become ours */
    uint64_t waits;    /* ms since when its next message waits, or 0 */
    uint64_t period;   /* ms: the beginning of a period of waits, */
    uint64_t waited;   /* and how long messages waited in it */
};

struct pfdd_partitions {
    struct pfdd_nats *line; /* borrowed, as is user */
    /* Takes messages for the loop. */
    void (*give)(void *user, struct pfdd_worker_message *message);
    void *user;
    uv_mutex_t mutex;
    struct pfdd_leases leases;
    struct pfdd_partition all[PFDD_PARTITIONS];
};

void pfdd_partitions_init(
    struct pfdd_partitions *partitions, struct pfdd_nats *line,
    void (*give)(void *user, struct pfdd_worker_message *message), void *user);
void pfdd_partitions_deinit(struct pfdd_partitions *partitions);

/* Renews leases, takes partitions up to our share, and leaves those beyond it.
 * False: try again later. */
bool pfdd_partitions_share(struct pfdd_partitions *partitions);

/* The stream is another one: partitions are read from its beginning. */
void pfdd_partitions_rewind(struct pfdd_partitions *partitions);

/* True: more than half of all partitions are ours. */
bool pfdd_partitions_has_most(const struct pfdd_partitions *partitions);

/* Gives all of them to other workers at once. */
void pfdd_partitions_release(struct pfdd_partitions *partitions);

/* True: messages of this partition may be read now. */
bool pfdd_partition_is_ours(const struct pfdd_partition *partition);

/*
 * The partition's next message waits for its list of code objects.
 * True: its messages have waited long enough. The edge is asked to send the
 * message again, following messages are read, and the list is still fetched.
 */
bool pfdd_partition_is_late(struct pfdd_partition *partition);
/* The message waits no longer. */
void pfdd_partition_end_wait(struct pfdd_partition *partition);

/* ---- any thread ---- */

/* The number of leased partitions. */
unsigned pfdd_partitions_count(struct pfdd_partitions *partitions);

/* True: the lease has not expired yet. */
bool pfdd_partitions_is_leased(struct pfdd_partitions *partitions,
                               unsigned number);

/* The loop has finished with a partition. */
void pfdd_partitions_leave(struct pfdd_partitions *partitions, unsigned number);

#endif
