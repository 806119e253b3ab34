/* SPDX-License-Identifier: MIT */
/*
 * The edge's side of NATS: chunks of entries are published, with the code
 * objects that they need before them, by a thread of its own, which connects
 * again when a server is away. What was published is not yet anywhere: the
 * owner keeps it until a worker says that it is written.
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
#include "spool/spool_record.h"

struct pfdd_edge;

enum {
    PFDD_TOKEN = 65, /* of a subject, with a NUL */
};

/* One message, allocated. */
struct pfdd_shipment {
    struct pfdd_shipment *next;
    uint64_t first; /* sequence numbers of its items, the edge's */
    uint64_t last;
    uint64_t previous; /* that of the item that went before it */
    uint64_t acked;    /* all up to there is written somewhere */
    uint64_t epoch;    /* grows when things are sent again */
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
    const char *dir; /* of the state: code objects lie there */
    const char *id;  /* 32 hexadecimal digits: no other edge's */
    void (*wake)(void *user);
    void (*closed)(void *user); /* after pfdd_edge_close() */
    void *user;
};

/* NULL: no memory or no thread. */
struct pfdd_edge *pfdd_edge_new(const struct pfdd_edge_options *options);

/* True: it wants more. */
bool pfdd_edge_has_room(struct pfdd_edge *edge);
/* Takes it over. */
void pfdd_edge_send(struct pfdd_edge *edge, struct pfdd_shipment *shipment);

/* What has come of it since the last call. */
struct pfdd_edge_news {
    bool is_connected;
    bool again;         /* all that is not acknowledged is to be sent again */
    uint64_t acked;     /* the largest number that a worker has said; 0: none */
    uint64_t n_stored;  /* messages that a server has taken */
    uint64_t n_refused; /* that are too large for the servers, */
    size_t max_payload; /* which take so many bytes; 0: not known yet */
};
void pfdd_edge_hear(struct pfdd_edge *edge, struct pfdd_edge_news *ret);

/* What waits to be sent is thrown away. */
void pfdd_edge_forget(struct pfdd_edge *edge);

/* Of memory. */
size_t pfdd_edge_memory(struct pfdd_edge *edge);

void pfdd_edge_close(struct pfdd_edge *edge);

#endif
