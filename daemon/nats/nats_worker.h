/* SPDX-License-Identifier: MIT */
/*
 * The worker's side of NATS: chunks of entries come as edges have published
 * them, each with the code objects that it needs where these have not come
 * before, by threads beside the loop, which connect again when a server is
 * away. How far an edge's chunks are written is said to it.
 *
 * Several workers share the partitions: each of these is leased to one, which
 * renews the lease every few seconds; what nobody renews another one takes.
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
    size_t n_code_max; /* bytes of the code objects of a list */
    void (*wake)(void *user);
    void (*closed)(void *user); /* after pfdd_worker_close() */
    void *user;
};

/* NULL: no memory or no thread. */
struct pfdd_worker *pfdd_worker_new(const struct pfdd_worker_options *options);

/* The next one, which is the caller's; NULL: none is there. */
struct pfdd_worker_message *pfdd_worker_take(struct pfdd_worker *worker);

/* All of an edge up to `acked` is written; again: what follows it is to be sent
 * again, by an edge that is in this epoch. False: out of memory. */
bool pfdd_worker_ack(struct pfdd_worker *worker, const char *edge,
                     uint64_t acked, uint64_t epoch, bool again);

/* A partition that was to be left is. */
void pfdd_worker_leave(struct pfdd_worker *worker, unsigned partition);

/* Partitions that it has. */
unsigned pfdd_worker_partitions(struct pfdd_worker *worker);

/* Messages that cannot be an edge's, of edges' that need code objects which are
 * not there, and what lies in the place of these. */
uint64_t pfdd_worker_refused(struct pfdd_worker *worker);

/* Of memory. */
size_t pfdd_worker_memory(struct pfdd_worker *worker);

void pfdd_worker_close(struct pfdd_worker *worker);

#endif
