/* SPDX-License-Identifier: MIT */
/*
 * A message to a worker's loop (nats_worker.h): entries of an edge, code
 * objects, and news of both. Belongs to one thread at a time.
 */
#ifndef PFDD_WORKER_MESSAGE_H
#define PFDD_WORKER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"

enum {
    PFDD_EDGE_NAME = 33, /* 32 hexadecimal digits and a NUL */
    PFDD_PARTITIONS = 64,
    PFDD_HOST_TOKEN = 65, /* bytes of a host's name, with a NUL */
};

enum pfdd_worker_message_kind {
    PFDD_WORKER_MESSAGE_ENTRIES,
    PFDD_WORKER_MESSAGE_ACKED,   /* by another worker, of an edge */
    PFDD_WORKER_MESSAGE_MISSING, /* entries whose code objects are missing */
    PFDD_WORKER_MESSAGE_CODE, /* a list of code objects; precedes its entries */
    PFDD_WORKER_MESSAGE_FORGET, /* lists that came are not used any more */
    /* Another worker takes over a partition: write and acknowledge all of it
     * that was taken, then call pfdd_worker_leave(). */
    PFDD_WORKER_MESSAGE_LEAVE,
};

struct pfdd_worker_message_object {
    char *name;
    char *bytes; /* [n]; NULL once it was taken over */
    size_t n;
    bool is_shader;
    uint32_t shader;
};

/* Allocated. */
struct pfdd_worker_message {
    struct pfdd_worker_message *next;
    enum pfdd_worker_message_kind kind;
    unsigned partition; /* of entries, or to be left */
    char edge[PFDD_EDGE_NAME];
    char code[PFDD_SHA256_TEXT]; /* digest of the list; "": none is needed */
    /* The edge's own place of it; "": the shared one. */
    char place[PFDD_EDGE_NAME];
    uint64_t first; /* the edge's sequence numbers */
    uint64_t last;
    uint64_t previous; /* of the item before it */
    uint64_t acked;    /* written up to there, as far as the edge knows */
    uint64_t epoch;    /* the edge's */
    uint64_t queued;   /* the last item that it had; 0: not known */
    uint64_t window;   /* bytes that it has in flight, at most; 0: not known */
    /* The edge's state folder and its running daemon, which copies of one
     * machine have in common and do not have in common; "": an edge of a release
     * without incarnations. */
    char state[PFDD_EDGE_NAME];
    char run[PFDD_EDGE_NAME];
    char host[PFDD_HOST_TOKEN]; /* as the subject has it */
    uint64_t number;            /* in the stream */
    int64_t stream;             /* when that was made */
    char *bytes;                /* [n], frames */
    size_t n;
    struct pfdd_worker_message_object *objects; /* [n_objects] */
    size_t n_objects;
    size_t n_memory; /* bytes of the whole message */
};
void pfdd_worker_message_free(struct pfdd_worker_message *p);

#endif
