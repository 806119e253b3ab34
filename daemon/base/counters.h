/* SPDX-License-Identifier: MIT */
/* What /metrics counts that is nobody else's to know. Loop thread only. */
#ifndef PFDD_COUNTERS_H
#define PFDD_COUNTERS_H

#include <stdint.h>

struct pfdd_counters {
    uint64_t streams;      /* that producers have begun */
    uint64_t gap_lines;    /* that the daemon knows were lost on the way in */
    uint64_t bad_frames;   /* of producers */
    uint64_t disconnected; /* subscribers, for lag */
    uint64_t costly;       /* likewise, for what they match */
    uint64_t missed;       /* items, by subscribers that are gone */
    uint64_t file_errors;
    uint64_t file_retries;
    uint64_t requests; /* of HTTP */
    uint64_t reloads;
    uint64_t bad_reloads;
    uint64_t out_of_fds;
    uint64_t refused;
    uint64_t waiting;          /* now: producers, until there is room */
    uint64_t idle;             /* producers that said nothing */
    uint64_t refused_files;    /* of watched folders */
    uint64_t waiting_files;    /* now: of {buffer}, until others are done */
    uint64_t unread_processes; /* now: that are to be read, and cannot */
    uint64_t truncated;        /* watched files that were cut */
    uint64_t replaced; /* watched files that another one took the place of */
    uint64_t generations;
    uint64_t polls;
    uint64_t nats_duplicates; /* messages of edges that were there already */
    uint64_t nats_again;      /* times that an edge was asked to send again */
    uint64_t nats_refused;    /* messages of others that are of no use */
    uint64_t nats_partitions; /* now: that are leased to this worker */
    uint64_t waits;           /* looks put off because readers were behind */
};

#endif
