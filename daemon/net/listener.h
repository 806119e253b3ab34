/* SPDX-License-Identifier: MIT */
/*
 * Sockets that others connect to: made, guarded, accepted from. Running out
 * of descriptors pauses a listener and never ends it.
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

/* Takes a connection that may come in; fd is owned by the callee. */
typedef void (*pfdd_accept_fn)(struct pfdd_listener *listener, int fd);
typedef void (*pfdd_closed_fn)(void *user);

struct pfdd_listener {
    uv_poll_t poll;
    uv_timer_t retry;
    int fd;
    struct pfdd_address address;
    const struct pfdd_access *access;
    bool inherited;       /* from the service manager: its path is not ours */
    unsigned n_open;      /* handles, and TLS */
    struct pfdd_tls *tls; /* NULL: bytes go as they are */
    uint64_t n_tunnels;   /* through which others came so far */
    char label[288];      /* for the log */
    struct pfdd_log_topic told; /* of those who may not come in */
    pfdd_accept_fn accept;
    /* True: there is no room for one more now, but soon. NULL: never. */
    bool (*waits)(void *user);
    /* Those who wait for that; n_max is set with `waits`. */
    struct pfdd_admission_queue admission_queue;
    unsigned n_counted; /* of them */
    uv_timer_t room;    /* until there may be some */
    pfdd_closed_fn closed;
    void *user;
    /* Counters, borrowed. */
    uint64_t *refused; /* by access; the owner counts those that are too many */
    uint64_t *out_of_fds;
    uint64_t *n_waiting; /* now, set with `waits` */
};

/* Makes a listening socket, non-blocking. A socket that nobody listens on any
 * more is taken over. Below 0: err [n] says why. */
int pfdd_socket_listen(const struct pfdd_address *address, unsigned mode,
                       char *err, size_t n_err);

/* Tells a subscriber why it gets nothing, if its socket takes that now. */
void pfdd_socket_refuse(int fd, const char *why);

/* Where an address is, that is no name. */
socklen_t pfdd_socket_address(const struct pfdd_address *address,
                              struct sockaddr_storage *ret);

/* Begins to connect, non-blocking; a TCP peer that falls silent is found out.
 * Below 0: an errno value, negated. */
int pfdd_socket_dial(const struct sockaddr *to, socklen_t n, int type);

/*
 * Opens a listener; user, accept, closed and counters are set before, address
 * and access are borrowed until it is closed. A socket that the service
 * manager handed over for the address is used. False: err says why, nothing is
 * to be closed.
 */
bool pfdd_listener_open(struct pfdd_listener *l, uv_loop_t *loop,
                        const struct pfdd_address *address,
                        const struct pfdd_access *access, char *err,
                        size_t n_err);
/* `closed` is called when its memory may go. */
void pfdd_listener_close(struct pfdd_listener *l);

/* Bytes of memory, beside what it hands out. */
size_t pfdd_listener_memory(const struct pfdd_listener *l);

/* Whose connection it is that `accept` got. */
struct pfdd_peer_key pfdd_listener_peer(struct pfdd_listener *l, int fd);

/* The port that a TCP listener got. */
unsigned pfdd_listener_port(const struct pfdd_listener *l);

#endif
