/* SPDX-License-Identifier: MIT */
/*
 * The edge's side of NATS. A thread publishes chunks of entries, after the code
 * objects that they need, and reconnects when it loses the server. A published
 * chunk is not safe yet: the owner keeps it until a worker acknowledges that it
 * is written.
 *
 * Loop thread only.
 */
#ifndef PFDD_NATS_EDGE_H
#define PFDD_NATS_EDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "config/nats_options.h"
#include "nats/incarnations.h"
#include "spool/spool_frame.h"

struct pfdd_edge;

enum {
    PFDD_TOKEN = 65, /* of a subject, with a NUL */
    PFDD_EDGE_TROUBLE = 240,
};

/* One message, allocated. */
struct pfdd_shipment {
    struct pfdd_shipment *next;
    uint64_t first; /* the edge's sequence numbers of its items */
    uint64_t last;
    uint64_t previous;              /* of the item before it */
    uint64_t acked;                 /* written somewhere up to there */
    uint64_t epoch;                 /* grows when items are sent again */
    uint64_t queued;                /* the last item that the edge has now */
    uint64_t window;                /* bytes that it has in flight, at most */
    char edge[PFDD_INCARNATION_ID]; /* under which its items were queued */
    char run[PFDD_INCARNATION_ID];  /* the current one */
    struct pfdd_manifest manifest;
    uint64_t pid;
    char gpu[PFDD_TOKEN];
    char *buffer; /* its name, owned */
    char *bytes;  /* [n], owned: a `buffer` frame and an `entries` frame */
    size_t n;
};
void pfdd_shipment_free(struct pfdd_shipment *shipment);

/* All borrowed until closed. */
struct pfdd_edge_options {
    uv_loop_t *loop;
    const struct pfdd_nats_options *nats_options;
    const char *dir;   /* the state folder with the code objects */
    const char *state; /* its identity, 32 hexadecimal digits */
    void (*wake)(void *user);
    void (*closed)(void *user); /* after pfdd_edge_close() */
    void *user;
};

/* NULL: no memory or no thread. */
struct pfdd_edge *pfdd_edge_new(const struct pfdd_edge_options *options);

/* True: more shipments may be sent. */
bool pfdd_edge_has_room(struct pfdd_edge *edge);
/* Takes ownership. */
void pfdd_edge_send(struct pfdd_edge *edge, struct pfdd_shipment *shipment);

/* Results since the last call. */
struct pfdd_edge_news {
    bool is_connected;
    bool again;         /* send everything again that is not acknowledged */
    uint64_t n_stored;  /* messages that a server has stored */
    uint64_t n_log_max; /* bytes that the servers keep of all edges; 0: without
                           limit, or not known yet */
    char trouble[PFDD_EDGE_TROUBLE]; /* why nothing is stored now, or "" */
    size_t max_payload; /* bytes of a message that the servers take, with its
                           headers; 0: not known yet */
};
void pfdd_edge_hear(struct pfdd_edge *edge, struct pfdd_edge_news *ret);

/* The highest sequence number of an incarnation that a worker has acknowledged;
 * 0: none. */
uint64_t pfdd_edge_acked(struct pfdd_edge *edge, const char *incarnation);

/* Drops shipments that were not sent yet. */
void pfdd_edge_forget(struct pfdd_edge *edge);

/* Bytes of memory. */
size_t pfdd_edge_memory(struct pfdd_edge *edge);

void pfdd_edge_close(struct pfdd_edge *edge);

#endif
