/* SPDX-License-Identifier: MIT */
/*
 * How workers share the partitions: each has one message in GPULEASE, which is
 * only replaced by who knows its number, and goes after some seconds unless it
 * is. So one worker at a time has a partition, and each sees how many there
 * are.
 *
 * A lease is one if it names a worker that says of itself that it is there; any
 * other message is in nobody's way: the worker that has the partition renews its
 * lease over it, and where nobody has it, it is taken after the time in which
 * one would have done so. Workers that take nothing are no reason to leave
 * anything to them for long. Calls may wait for the network.
 */
#ifndef PFDD_NATS_LEASE_H
#define PFDD_NATS_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "nats/nats_get.h"

struct pfdd_leases {
    char worker[PFDD_EDGE_ID];             /* who we are, in this run */
    uint64_t tokens[PFDD_NATS_PARTITIONS]; /* numbers of ours; 0: not ours */
    uint64_t present; /* number of the message that says that we are there */
    uint64_t renewed; /* ms, when they were renewed last */
    uint64_t looked;  /* ms, at those of others */
    uint64_t idle[PFDD_NATS_PARTITIONS]; /* ms, since when nobody has it; 0:
                                              somebody has */
    unsigned n_workers;                  /* that have some, or may want some */
    uint64_t trusted;  /* ms, from when on workers that have nothing count */
    uint64_t doubt_ms; /* for how long they do not, next time */
};

void pfdd_leases_init(struct pfdd_leases *leases);

/* Renews those that it has, if it is time, and takes free ones up to its share;
 * *share: partitions that it should have. now: ms. False: not now; what could
 * not be renewed is not ours any more. */
bool pfdd_leases_look(struct pfdd_leases *leases, struct pfdd_nats *line,
                      uint64_t now, unsigned *share);

/* The partition that a subject of GPULEASE is of; -1: of none. */
int pfdd_lease_partition(const char *subject);

/* The worker that a subject of GPULEASE is of; NULL: of none. */
const char *pfdd_lease_worker(const char *subject);

/* Others may have it at once; all: and we are not there any more. */
void pfdd_leases_release(struct pfdd_leases *leases, struct pfdd_nats *line,
                         unsigned partition);
void pfdd_leases_release_all(struct pfdd_leases *leases,
                             struct pfdd_nats *line);

#endif
