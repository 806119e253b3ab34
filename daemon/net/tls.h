/* SPDX-License-Identifier: MIT */
/*
 * TLS between a TCP socket and whoever speaks plainly: each connection is a
 * tunnel that hands out one end of a socket pair once the peer has proved who
 * it is, and moves bytes between it and the network. Both sides have a
 * certificate of the configured authority; TLS 1.3 only. Without OpenSSL none
 * of this can be made. Loop thread only.
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
    unsigned max_known; /* peers that are known; others are sent away at once */
    const char *peer;   /* we are the client: the address to be proved, or
                         the name (is_name); else NULL */
    bool is_name;
    /* A peer is known; fd is the callee's. */
    void (*ready)(void *user, int fd);
    /* A connection came to nothing; said in the log. May be NULL. */
    void (*failed)(void *user);
    void (*closed)(void *user); /* after pfdd_tls_close() */
    void *user;
};

/* NULL: err [n_err] says why. */
struct pfdd_tls *pfdd_tls_new(const struct pfdd_tls_options *options, char *err,
                              size_t n_err);

/* Takes over a socket that is connected, or connecting when we are the client.
 * A certificate file that has changed is read again. Some strangers are heard
 * at a time; for one more, the one that has kept us waiting the longest goes. */
void pfdd_tls_begin(struct pfdd_tls *tls, int fd);

/* Tunnels end as soon as what is in them is sent; then `closed`. */
void pfdd_tls_close(struct pfdd_tls *tls);

/* NULL is allowed. */
size_t pfdd_tls_memory(const struct pfdd_tls *tls);

#endif
