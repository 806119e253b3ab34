/* SPDX-License-Identifier: MIT */
/*
 * What comes to a worker (nats_worker.h): entries of edges, code objects, and
 * what is said of both. One thread at a time has a parcel.
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
};

enum pfdd_worker_message_kind {
    PFDD_WORKER_MESSAGE_ENTRIES,
    PFDD_WORKER_MESSAGE_ACKED, /* a worker has said so of an edge, before us */
    PFDD_WORKER_MESSAGE_MISSING, /* code objects of entries that are not given */
    PFDD_WORKER_MESSAGE_CODE, /* a list of code objects, before those need it */
    PFDD_WORKER_MESSAGE_FORGET, /* lists that came are not spoken of any more */
    PFDD_WORKER_MESSAGE_LEAVE, /* another worker shall have a partition: when all of
                            it that was taken is written and acknowledged,
                            pfdd_worker_leave() */
};

struct pfdd_worker_message_object {
    char *name;
    char *bytes; /* [n]; may be taken over: then it is NULL */
    size_t n;
    bool is_shader;
    uint32_t shader;
};

/* Allocated. */
struct pfdd_worker_message {
    struct pfdd_worker_message *next;
    enum pfdd_worker_message_kind kind;
    unsigned partition; /* of entries, and that is left */
    char edge[PFDD_EDGE_NAME];
    char code[PFDD_SHA256_TEXT]; /* a list's; "": none is needed */
    char place[PFDD_EDGE_NAME];  /* where the edge has put it; "": nowhere
                                    of its own */
    uint64_t first;              /* sequence numbers, the edge's */
    uint64_t last;
    uint64_t previous; /* of the item that went before */
    uint64_t acked;    /* written somewhere, as the edge knows */
    uint64_t epoch;    /* the edge's */
    char *bytes;       /* [n]: frames */
    size_t n;
    struct pfdd_worker_message_object *objects; /* [n_objects] */
    size_t n_objects;
    size_t n_memory; /* bytes of all of it */
};
void pfdd_worker_message_free(struct pfdd_worker_message *worker_message);

#endif
