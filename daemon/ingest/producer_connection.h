/* SPDX-License-Identifier: MIT */
/*
 * A socket from which a producer's stream is read: bytes and descriptors from
 * the socket to the stream, no faster than the stream takes them.
 */
#ifndef PFDD_PRODUCER_CONNECTION_H
#define PFDD_PRODUCER_CONNECTION_H

#include <uv.h>

#include "base/peer_limit.h"
#include "base/resource_account.h"
#include "config/config.h"
#include "ingest/stream.h"

enum {
    PFDD_READ = 64 * 1024
};

struct pfdd_producer_connection {
    uv_poll_t poll;
    uv_timer_t timer; /* for those that are idle */
    struct pfdd *d;
    int fd;
    struct pfdd_stream *stream;
    bool is_known;  /* that it speaks as producers do */
    size_t n_early; /* bytes that came before that */
    bool polling;
    bool at_end; /* of the socket */
    bool closing;
    unsigned n_handles; /* that are open */
    uint64_t idle_ms;   /* 0: it may be idle for ever */
    uint64_t heard;     /* uv_now(), when bytes came or it had a buffer */
    char bytes[PFDD_READ];
    size_t at;
    size_t n;
    /* Set by the owner: it is gone, its memory may go. */
    void (*closed)(struct pfdd_producer_connection *c);
    void *user;
    struct pfdd_resource_account
        account; /* of what it makes us have; `of` is the owner's,
                                  NULL: nobody counts it */
    struct pfdd_producer_connection *next; /* the owner's */
    struct pfdd_peer_limit
        *peer_limit; /* likewise; left when it is closed; NULL: none */
    struct pfdd_limited_peer limited_peer; /* silent until it is known */
};

/* c is zeroed but closed, user and holder.of; fd is taken over. False: nothing is open. */
bool pfdd_producer_connection_open(struct pfdd_producer_connection *c,
                                   struct pfdd *d, int fd, const char *name,
                                   const struct pfdd_input_config *config);
void pfdd_producer_connection_close(struct pfdd_producer_connection *c);

#endif
