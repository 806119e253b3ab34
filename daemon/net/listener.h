/* SPDX-License-Identifier: MIT */
/*
 * Listening sockets: made, checked for access, accepted from. Without free
 * descriptors a listener pauses; it never ends.
 */
#ifndef PFDD_LISTENER_H
#define PFDD_LISTENER_H

#include <sys/socket.h>

#include <uv.h>

#include "base/admission_queue.h"
#include "base/log.h"
#include "base/peer_limit.h"
#include "config/config.h"
#include "net/tls.h"

struct pfdd_listener;

/* Takes an admitted connection; the callee owns fd. */
typedef void (*pfdd_accept_fn)(struct pfdd_listener *listener, int fd);
typedef void (*pfdd_closed_fn)(void *user);

struct pfdd_listener {
    uv_poll_t poll;
    uv_timer_t retry;
    int fd;
    struct pfdd_address address;
    const struct pfdd_access *access;
    bool inherited;       /* from the service manager: do not remove its path */
    unsigned n_open;      /* open handles, and TLS */
    struct pfdd_tls *tls; /* NULL: plain bytes */
    uint64_t n_tunnels;   /* connections over TLS so far */
    char label[288];      /* for the log */
    struct pfdd_log_topic told;         /* refused users */
    struct pfdd_log_topic told_waiting; /* the admission queue is full */
    struct pfdd_log_topic told_lacking; /* accepting fails */
    pfdd_accept_fn accept;
    /* True: a connection has to wait for admission now. NULL: never. */
    bool (*waits)(void *user);
    /* Connections that wait for that; n_max is set with `waits`. */
    struct pfdd_admission_queue admission_queue;
    unsigned n_counted; /* of them, in *n_waiting */
    uv_timer_t room;    /* until the next try to admit */
    pfdd_closed_fn closed;
    void *user;
    /* Counters, borrowed. */
    uint64_t *refused; /* by access; the owner counts those beyond its limits */
    uint64_t *out_of_fds;
    uint64_t *n_waiting; /* current number, set with `waits` */
};

/* Sends a subscriber the reason of a refusal, without waiting. */
void pfdd_socket_refuse(int fd, const char *why);

/* The socket address of an address that is no host name. */
socklen_t pfdd_socket_address(const struct pfdd_address *address,
                              struct sockaddr_storage *ret);

/* Begins to connect, non-blocking; TCP detects peers that have gone silently.
 * Below 0: a negated errno value. */
int pfdd_socket_dial(const struct sockaddr *to, socklen_t n, int type);

/*
 * Opens a listener. user, accept, closed and counters are set before; address
 * and access are borrowed until it is closed. Uses the socket that the service
 * manager passed for this address, if any. False: err [n_err] says why, and
 * nothing is open.
 */
bool pfdd_listener_open(struct pfdd_listener *l, uv_loop_t *loop,
                        const struct pfdd_address *address,
                        const struct pfdd_access *access, char *err,
                        size_t n_err);
/* Accepts the connections that wait in the kernel's backlog, before the listener
 * is closed. Not over TLS, whose tunnels take a while. */
void pfdd_listener_accept_rest(struct pfdd_listener *l);
/* Calls `closed` when the struct may be freed. */
void pfdd_listener_close(struct pfdd_listener *l);

/* Bytes of memory, except connections that were handed out. */
size_t pfdd_listener_memory(const struct pfdd_listener *l);

/* The peer of a connection that `accept` got. */
struct pfdd_peer_key pfdd_listener_peer(struct pfdd_listener *l, int fd);

#endif
