/* SPDX-License-Identifier: MIT */
/*
 * A connection of ours to somebody else, made and made again: a name is looked
 * up each time, its addresses are tried one after another, TLS is begun where
 * the configuration has it, and each failure is waited for longer, by no even
 * steps, so that many do not come back at once. A peer that has gone without a
 * word is found out by the kernel (keep-alive, and bytes that nobody confirms).
 * Loop thread only.
 */
#ifndef PFDD_OUTBOUND_H
#define PFDD_OUTBOUND_H

#include <netdb.h>

#include <uv.h>

#include "config/access.h"
#include "net/tls.h"

enum {
    PFDD_OUTBOUND_PEERS = 8 /* addresses of one name */
};

struct pfdd_outbound_peer {
    struct sockaddr_storage to;
    socklen_t n;
};

struct pfdd_outbound {
    /* Set by the owner before it is opened; borrowed until closed. */
    uv_loop_t *loop;
    const struct pfdd_access *access;
    bool is_datagram;               /* unix only */
    void (*up)(void *user, int fd); /* connected; fd is the callee's */
    void (*closed)(void *user);     /* its memory may go */
    void *user;
    /* To be read. */
    bool is_down; /* the last attempt failed */
    /* Private. */
    uv_timer_t timer;
    struct pfdd_tls *tls;
    struct pfdd_outbound_lookup *lookup;   /* on its way, or NULL */
    struct pfdd_outbound_attempt *attempt; /* likewise */
    struct pfdd_outbound_peer peers[PFDD_OUTBOUND_PEERS]; /* [n_peers] */
    size_t n_peers;
    size_t next_peer;
    unsigned wait_ms;
    uint64_t came_up; /* uv_now() */
    unsigned n_open;  /* handles, and TLS */
    bool told;        /* that it is down */
    bool closing;
};

/* Begins to connect. False: err [n_err] says why; nothing is open. */
bool pfdd_outbound_open(struct pfdd_outbound *u, char *err, size_t n_err);

/* What it gave is gone, and closed: there will be another one, after a while. */
void pfdd_outbound_lost(struct pfdd_outbound *u, const char *why);

/* What it gave stays the owner's. */
void pfdd_outbound_close(struct pfdd_outbound *u);

/* What is wrong with a socket that libuv gave a status for: an errno value; 0:
 * nothing. libuv itself only knows that something is. */
int pfdd_outbound_error(int fd, int status);

/* Bytes of memory, beside its own. */
size_t pfdd_outbound_memory(const struct pfdd_outbound *u);

#endif
