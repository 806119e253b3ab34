/* SPDX-License-Identifier: MIT */
/*
 * A connection to a daemon: a unix socket or TCP, plain or with TLS. It only
 * waits in poll(). From connection_open() on, SIGINT and SIGTERM end its waits,
 * and no longer the process.
 */
#ifndef CLI_CONNECTION_H
#define CLI_CONNECTION_H

#include <stddef.h>
#include <stdint.h>

#include "tls.h"

struct tls;
struct tls_class;
struct tls_config;

struct peer {
    const char *path; /* of a unix socket; NULL: TCP */
    const char *name; /* of TCP: a host, or an address without brackets */
    const char *port;
    const struct tls_config *tls; /* NULL: no TLS */
};

struct connection {
    int fd;
    struct spool_buffer *spool; /* receives ahead; NULL: nothing does */
    int stop_fd;                /* readable from the first signal on */
    struct tls *tls;            /* NULL: no TLS */
    const struct tls_class *of;
    uint64_t idle_ns; /* longest wait for bytes; UINT64_MAX: no limit */
    char why[512];
};

/* *ret has to be closed also after a failure. Never OUTCOME_END. */
enum outcome connection_open(struct connection *ret, const struct peer *peer);
void connection_close(struct connection *c);

/* From now on all that comes is received, in a file of at most `max` bytes in
 * that folder where its reader is slow; not with TLS. */
enum outcome connection_spool(struct connection *c, const char *folder,
                              uint64_t max);

/* Writes the error into `why`; returns OUTCOME_FAILED. */
enum outcome connection_fail(struct connection *c, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/* Sends all bytes [n]. Never OUTCOME_LATE. */
enum outcome connection_send(struct connection *c, const char *bytes, size_t n);

/* OUTCOME_DONE: *n_ret bytes were received, 1 to n. */
enum outcome connection_receive(struct connection *c, char *bytes, size_t n,
                                size_t *n_ret);

#endif
