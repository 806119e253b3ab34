/* SPDX-License-Identifier: MIT */
/*
 * The edges whose chunks a worker has met: which hosts they are on, and when they
 * were heard last. Notices two daemons
 * that run with copies of one state folder, and numbers that are used again.
 * Loop thread only.
 */
#ifndef PFDD_EDGES_SEEN_H
#define PFDD_EDGES_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nats/worker_message.h"

enum {
    PFDD_EDGES_SEEN = 4096,    /* remembered at a time */
    PFDD_CHUNKS_SEEN = 1 << 14 /* chunks that are remembered */
};

/* A daemon that runs as an edge. */
struct pfdd_seen_edge {
    char state[PFDD_EDGE_NAME]; /* its state folder, likewise in copies of it */
    char run[PFDD_EDGE_NAME];   /* "": of a release without incarnations, */
    uint64_t epoch;             /* with such epochs */
    char edge[PFDD_EDGE_NAME];  /* the incarnation of its last message */
    char host[PFDD_HOST_TOKEN];
    uint64_t queued; /* the last item that it had, as of that */
    uint64_t window; /* bytes that it has in flight, at most; 0: not known */
    int64_t stream;  /* when the stream was made in which it was met */
    uint64_t from;   /* numbers in it of its first and last message */
    uint64_t to;
    uint64_t heard; /* ns since 1970 */
    bool is_told;   /* that there are two of it */
    uint32_t next;  /* index + 1 of another one with this hash; 0: none */
};

/* All zeros: none. */
struct pfdd_edges_seen {
    struct pfdd_seen_edge *edges; /* [n] */
    size_t n;
    size_t size;
    uint32_t by_state[PFDD_EDGES_SEEN]; /* index + 1 of the first */
    struct {
        uint64_t key; /* hash of edge and numbers; 0: none */
        uint64_t mark;
    } chunks[PFDD_CHUNKS_SEEN];
};

void pfdd_edges_seen_deinit(struct pfdd_edges_seen *seen);

/* Notes a message of entries. Logs when its edge is one of two. Returns the
 * index of its edge; PFDD_EDGES_SEEN: there is no room. */
size_t pfdd_edges_seen_note(struct pfdd_edges_seen *seen,
                            const struct pfdd_worker_message *p);

/* The message's chunk, with this mark (spool/resend_dedup.h), is taken. */
void pfdd_edges_seen_take(struct pfdd_edges_seen *seen,
                          const struct pfdd_worker_message *p, uint64_t mark);

/* True: a chunk of the same edge with the same numbers and another mark was
 * taken, and none with this mark. */
bool pfdd_edges_seen_is_other(const struct pfdd_edges_seen *seen,
                              const struct pfdd_worker_message *message,
                              uint64_t mark);

/* How many edges were heard in the last 10 minutes. *window: bytes that they have
 * in flight at most, as far as they say it. */
size_t pfdd_edges_seen_count(const struct pfdd_edges_seen *seen,
                             uint64_t *window);

/* True: no other one of its state folder and its host was heard later. */
bool pfdd_edges_seen_is_current(const struct pfdd_edges_seen *seen,
                                const struct pfdd_seen_edge *edge);

/* Bytes of memory. */
size_t pfdd_edges_seen_memory(const struct pfdd_edges_seen *seen);

#endif
