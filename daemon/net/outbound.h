/* SPDX-License-Identifier: MIT */
/*
 * A connection to another host or service, made again after each failure. It
 * looks up the host name, tries its addresses one after another, and begins TLS
 * if configured. Pauses grow, with random parts, so that many clients do not
 * return at once. The kernel detects peers that have gone silently (keep-alive,
 * and bytes without acknowledgement). Loop thread only.
 */
#ifndef PFDD_OUTBOUND_H
#define PFDD_OUTBOUND_H

#include <netdb.h>

#include <uv.h>

#include "base/outage.h"
#include "config/access.h"
#include "net/tls.h"

enum {
    PFDD_OUTBOUND_PEERS = 8 /* addresses of one name */
};

struct pfdd_outbound_peer {
    struct sockaddr_storage to;
    socklen_t n;
};

/* A connection that the owner keeps here. */
struct pfdd_link {
    uv_poll_t poll;
    int fd;
    int events; /* that are polled for */
    struct pfdd_outbound *of;
};

struct pfdd_outbound {
    /* Set by the owner before opening; borrowed until closed. */
    uv_loop_t *loop;
    const struct pfdd_access *access;
    bool is_datagram;               /* unix only */
    void (*up)(void *user, int fd); /* connected; the callee owns fd */
    void (*event)(void *user, int status, int events); /* of `link` */
    void (*closed)(void *user); /* the struct may be freed */
    void *user;
    /* Readable by the owner. */
    bool is_down;           /* the last attempt failed */
    struct pfdd_link *link; /* NULL: none is kept here */
    /* Private. */
    uv_timer_t timer;
    struct pfdd_tls *tls;
    struct pfdd_outbound_lookup *lookup;   /* in flight, or NULL */
    struct pfdd_outbound_attempt *attempt; /* likewise */
    struct pfdd_outbound_peer peers[PFDD_OUTBOUND_PEERS]; /* [n_peers] */
    size_t n_peers;
    size_t next_peer;
    unsigned wait_ms;
    uint64_t came_up; /* uv_now() of the last connection */
    unsigned n_open;  /* open handles, and TLS */
    struct pfdd_outage outage;
    bool closing;
};

/* Keeps a connection: takes over fd. False: out of memory; fd is closed. */
bool pfdd_outbound_keep(struct pfdd_outbound *u, int fd);
/* Polls the link for these events; 0: for none. */
void pfdd_outbound_watch(struct pfdd_outbound *u, int events);
/* Closes the link. */
void pfdd_outbound_drop(struct pfdd_outbound *u);

/* Begins to connect. False: err [n_err] says why; nothing is open. */
bool pfdd_outbound_open(struct pfdd_outbound *u, char *err, size_t n_err);

/* The connection that it gave is lost, and closed by the owner. Makes another
 * one after a pause. */
void pfdd_outbound_lost(struct pfdd_outbound *u, const char *why);

/* A connection that it gave stays open: it is the owner's. */
void pfdd_outbound_close(struct pfdd_outbound *u);

/* The errno value of a socket for which libuv reported a status, which does not
 * say the reason; 0: none. */
int pfdd_outbound_error(int fd, int status);

/* Bytes of memory, except the struct itself. */
size_t pfdd_outbound_memory(const struct pfdd_outbound *u);

#endif
