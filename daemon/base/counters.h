/* SPDX-License-Identifier: MIT */
/* Counters of /metrics that no other part has. Loop thread only. */
#ifndef PFDD_COUNTERS_H
#define PFDD_COUNTERS_H

#include <stdint.h>

/* Of a worker. */
struct pfdd_nats_counters {
    uint64_t duplicates; /* messages of edges that were received before */
    uint64_t again;      /* requests to an edge to send again */
    uint64_t refused;    /* unusable messages of other senders */
    uint64_t partitions; /* now: leased to this worker */
    uint64_t edges;      /* now: heard in the last minutes */
    uint64_t waiting;    /* now: messages whose entries are not written */
    uint64_t oldest_ns;  /* now: since when the first of them waits */
};

struct pfdd_counters {
    uint64_t streams;      /* that producers have begun */
    uint64_t gap_lines;    /* entries known to be lost on the way in */
    uint64_t bad_frames;   /* of producers */
    uint64_t disconnected; /* subscribers cut off for lag */
    uint64_t costly;       /* subscribers cut off for the cost of their
                              filter */
    uint64_t missed;       /* items, by subscribers that have left */
    uint64_t file_errors;
    uint64_t file_retries;
    uint64_t requests; /* of HTTP */
    uint64_t reloads;
    uint64_t bad_reloads;
    uint64_t out_of_fds;
    uint64_t refused;
    uint64_t waiting;          /* now: producers that wait for admission */
    uint64_t idle;             /* producers closed because they sent nothing */
    uint64_t refused_files;    /* of watched folders */
    uint64_t waiting_files;    /* now: sources whose file waits for others */
    uint64_t unread_processes; /* now: to be read, but not readable */
    uint64_t truncated;        /* watched files that were truncated */
    uint64_t replaced;         /* watched files that were replaced */
    uint64_t generations;
    uint64_t polls;
    uint64_t waits; /* polls put off because cursors were behind */
    struct pfdd_nats_counters nats;
};

#endif
