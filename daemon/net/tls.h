/* SPDX-License-Identifier: MIT */
/*
 * TLS for a TCP socket. Each connection is a tunnel: once the peer is
 * authenticated, the tunnel hands out one end of a socket pair for plain bytes,
 * and copies between the pair and the network. Both sides have certificates of
 * the configured authority; TLS 1.3 only. Without OpenSSL, pfdd_tls_new()
 * fails. Loop thread only.
 */
#ifndef PFDD_TLS_H
#define PFDD_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "config/config.h"

struct pfdd_tls;

struct pfdd_tls_options {
    uv_loop_t *loop;
    const struct pfdd_tls_config *config; /* borrowed until closed */
    const char *label;                    /* for the log, likewise */
    unsigned max_known; /* authenticated connections of a peer, at most */
    const char *peer;   /* as a client: the address, or (is_name) host name, to
                           verify; as a server: NULL */
    bool is_name;
    /* A peer was authenticated; the callee owns fd. */
    void (*ready)(void *user, int fd);
    /* A connection failed: logged, unless it was refused at once. May be
     * NULL. */
    void (*failed)(void *user);
    void (*closed)(void *user); /* after pfdd_tls_close() */
    void *user;
};

/* NULL: err [n_err] says why. */
struct pfdd_tls *pfdd_tls_new(const struct pfdd_tls_options *options, char *err,
                              size_t n_err);

/* Takes over a socket that is connected or, as a client, connecting. Reads a
 * certificate file again if it has changed. The number of unauthenticated peers
 * is limited: the one that has been silent the longest is closed for a new
 * one. */
void pfdd_tls_begin(struct pfdd_tls *tls, int fd);

/* Tunnels end once their rest is sent; then `closed` is called. */
void pfdd_tls_close(struct pfdd_tls *tls);

/* NULL is allowed. */
size_t pfdd_tls_memory(const struct pfdd_tls *tls);

#endif
