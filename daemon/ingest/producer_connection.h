/* SPDX-License-Identifier: MIT */
/*
 * A producer's socket: passes bytes and descriptors on to the producer's
 * stream, no faster than the stream takes them.
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
    uv_timer_t timer; /* closes an idle connection */
    struct pfdd_ingest *ingest;
    int fd;
    struct pfdd_stream *stream;
    bool is_known;  /* its first bytes are those of a stream of frames */
    size_t n_early; /* bytes that came while it was not known */
    bool polling;
    bool closing;
    bool is_ending;     /* pfdd_producer_connection_finish() was called */
    size_t n_left;      /* bytes that are still read then */
    unsigned n_handles; /* open handles */
    uint64_t idle_ms;   /* 0: it is never closed as idle */
    uint64_t heard;     /* uv_now(), when bytes came, or when it had a buffer */
    char bytes[PFDD_READ];
    size_t at;
    size_t n;
    /* Set by the owner. The connection is gone, and may be freed. */
    void (*closed)(struct pfdd_producer_connection *c);
    void *user;
    struct pfdd_resource_account
        account; /* its resources; `of` is the owner's; NULL: not charged */
    struct pfdd_producer_connection *next; /* the owner's */
    struct pfdd_peer_limit
        *peer_limit; /* likewise; left on close; NULL: none */
    struct pfdd_limited_peer limited_peer; /* silent until it is known */
};

/* c is zeroed except for closed, user and account.of. Takes over fd; the input
 * stays until it is closed. False: nothing is open. */
bool pfdd_producer_connection_open(struct pfdd_producer_connection *c,
                                   const struct pfdd_input *input, int fd,
                                   const char *name);
/* Takes the bytes that the kernel has of the producer now, as soon as the stream
 * takes them, and closes. Bytes that the producer sends later are not read, so
 * no producer holds this up. */
void pfdd_producer_connection_finish(struct pfdd_producer_connection *c);
/* Closes at once. */
void pfdd_producer_connection_close(struct pfdd_producer_connection *c);

#endif
