/* SPDX-License-Identifier: MIT */
/*
 * A connection to a daemon: a unix socket or TCP, as it is or in TLS. It waits
 * in poll() only; once it is being opened, SIGINT and SIGTERM end its waits and
 * nothing else.
 */
#ifndef CLI_CONNECTION_H
#define CLI_CONNECTION_H

#include <stddef.h>
#include <stdint.h>

struct tls;
struct tls_class;
struct tls_config;

enum outcome {
    OUTCOME_DONE,
    OUTCOME_END,     /* the peer has ended it */
    OUTCOME_LATE,    /* nothing has come for so long */
    OUTCOME_STOPPED, /* by a signal */
    OUTCOME_FAILED,  /* `why` says why */
    /* Of a single step only: */
    OUTCOME_WANTS_READ,
    OUTCOME_WANTS_WRITE,
};

struct peer {
    const char *path; /* of a unix socket; NULL: TCP */
    const char *name; /* of TCP: a host, or an address without brackets */
    const char *port;
    const struct tls_config *tls; /* NULL: bytes go as they are */
};

struct connection {
    int fd;
    int stop_fd;     /* readable once a signal came, and from then on */
    struct tls *tls; /* NULL: bytes go as they are */
    const struct tls_class *of;
    uint64_t idle_ns; /* when receiving is late; UINT64_MAX: never */
    char why[512];
};

/* To be closed whatever comes of it. Never OUTCOME_END. */
enum outcome connection_open(struct connection *ret, const struct peer *peer);
void connection_close(struct connection *c);

/* What went wrong, for `why`; OUTCOME_FAILED. */
enum outcome connection_fail(struct connection *c, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/* All of bytes [n]. Never OUTCOME_LATE. */
enum outcome connection_send(struct connection *c, const char *bytes, size_t n);

/* OUTCOME_DONE: there are *n_ret bytes, 1 to n. */
enum outcome connection_receive(struct connection *c, char *bytes, size_t n,
                                size_t *n_ret);

#endif
