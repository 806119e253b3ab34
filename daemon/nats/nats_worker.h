/* SPDX-License-Identifier: MIT */
/*
 * The worker's side of NATS. A thread reads chunks of entries that edges have
 * published, fetches missing code objects that they need, publishes
 * acknowledgements, and reconnects when it loses the server.
 *
 * Workers share the partitions. Each partition is leased to one worker, which
 * renews the lease every few seconds; an expired lease is taken by another
 * worker.
 *
 * Loop thread only.
 */
#ifndef PFDD_NATS_WORKER_H
#define PFDD_NATS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "config/nats_options.h"
#include "nats/worker_message.h"

struct pfdd_worker;

/* All borrowed until closed. */
struct pfdd_worker_options {
    uv_loop_t *loop;
    const struct pfdd_nats_options *nats_options;
    size_t n_code_max; /* limit of the code objects of a list, bytes */
    void (*wake)(void *user);
    void (*closed)(void *user); /* after pfdd_worker_close() */
    void *user;
};

/* NULL: no memory or no thread. */
struct pfdd_worker *pfdd_worker_new(const struct pfdd_worker_options *options);

/* The next message, owned by the caller. NULL: none. */
struct pfdd_worker_message *pfdd_worker_take(struct pfdd_worker *worker);

/* Publishes an acknowledgement: everything of the edge up to `acked` is
 * written. again: an edge in this epoch has to send the following items again.
 * False: out of memory. */
bool pfdd_worker_ack(struct pfdd_worker *worker, const char *edge,
                     uint64_t acked, uint64_t epoch, bool again);

/* The loop has finished with a partition (PFDD_WORKER_MESSAGE_LEAVE). */
void pfdd_worker_leave(struct pfdd_worker *worker, unsigned partition);

/* Why it gets nothing now: ret [n], or "". */
void pfdd_worker_trouble(struct pfdd_worker *worker, char *ret, size_t n);

/* Bytes that GPULOG keeps; 0: without limit, or not known yet. */
uint64_t pfdd_worker_log_max(struct pfdd_worker *worker);

/* The number of its partitions. */
unsigned pfdd_worker_partitions(struct pfdd_worker *worker);

/* Refused messages: messages that no edge can have sent, entries whose code
 * objects are missing, and other data in the place of code objects or
 * leases. */
uint64_t pfdd_worker_refused(struct pfdd_worker *worker);

/* Bytes of memory. */
size_t pfdd_worker_memory(struct pfdd_worker *worker);

void pfdd_worker_close(struct pfdd_worker *worker);

#endif
