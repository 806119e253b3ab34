/* SPDX-License-Identifier: MIT */
/*
 * Reads the frames of a worker's messages (input_nats.c), and puts their entries
 * into the ring as if their buffers were local. Loop thread only.
 */
#ifndef PFDD_EDGE_ENTRIES_H
#define PFDD_EDGE_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/follower_stats.h"
#include "inputs/edge_buffers.h"
#include "spool/resend_dedup.h"

/* known.ingest is set; the rest all zeros. */
struct pfdd_edge_entries {
    struct pfdd_edge_buffers known;
    struct pfdd_resend_dedup dedup; /* chunks of the spool, at the start */
    struct pfdd_follower_stats sums;
};

/* Puts a message's entries behind the first `skip` items, or a gap in place of
 * what cannot be used. code: the message's, or NULL. Returns the ring's sequence
 * number behind them, or that of the spool if it has them since before the
 * start; 0: out of memory, not now.
 * *is_entries: they were entries. */
uint64_t pfdd_edge_entries_put(struct pfdd_edge_entries *entries,
                               const struct pfdd_worker_message *p,
                               const struct pfdd_edge_code *code, uint64_t skip,
                               bool *is_entries);

/* The mark of its chunk; 0: it has none that can be read. */
uint64_t pfdd_edge_entries_mark(const struct pfdd_worker_message *p);

#endif
