/* SPDX-License-Identifier: MIT */
/*
 * Metrics of each edge that a worker hears: the lines of it that are not written
 * yet, and when it was heard last. Of more edges than have room, those with the
 * most lines. Loop thread only.
 */
#ifndef PFDD_EDGE_METRICS_H
#define PFDD_EDGE_METRICS_H

#include <stdio.h>

#include "inputs/edges_seen.h"
#include "nats/worker_acks.h"

/* As the hook of an input (config/input_options.h). */
size_t pfdd_edge_metrics(const struct pfdd_edges_seen *seen,
                         const struct pfdd_acks *acks, FILE *out);

#endif
