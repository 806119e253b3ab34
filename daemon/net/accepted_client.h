/* SPDX-License-Identifier: MIT */
/*
 * Clients that connect to an output's socket. A client is admitted while there
 * is a place (peer_limit.h: silent clients are closed first), polled, timed,
 * and freed once its handles and holds are gone. The owner reads and writes its
 * data. Loop thread only.
 */
#ifndef PFDD_ACCEPTED_CLIENT_H
#define PFDD_ACCEPTED_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include <uv.h>

#include "base/counters.h"
#include "base/peer_limit.h"
#include "config/access.h"
#include "net/listener.h"

/* The owner's struct of a client begins with it. */
struct pfdd_accepted_client {
    struct pfdd_accepted_clients *of;
    struct pfdd_accepted_client *next;
    struct pfdd_limited_peer
        limited_peer; /* silent at first; then the owner's */
    int fd;
    int events;   /* polled for */
    bool is_lent; /* a thread uses fd, too */
    /* fd is closed or, if lent, shut down; the memory stays until it is
     * freed. */
    bool closing;
    /* Private. */
    uv_poll_t poll;
    uv_timer_t timer;
    bool was_late;    /* the time was over once, but input had arrived */
    unsigned n_holds; /* open handles, and holds */
};

/* The owner's hooks. A closing client is passed to `leave` and `gone` only. */
struct pfdd_accepted_clients_class {
    size_t size; /* of the owner's struct of a client */
    /* False: the peer of fd is refused, was sent the reason, and is counted.
     * NULL: every peer is admitted. */
    bool (*admit)(struct pfdd_accepted_clients *accepted_clients, int fd);
    /* A client was admitted. The rest of its struct is zero; it is not polled
     * yet. */
    void (*come)(struct pfdd_accepted_client *accepted_client);
    /* UV_READABLE, UV_WRITABLE of the polled events. */
    void (*event)(struct pfdd_accepted_client *accepted_client, int events);
    /* The time of pfdd_accepted_client_expect() is over. NULL: the client is
     * closed. */
    void (*late)(struct pfdd_accepted_client *accepted_client);
    /* The connection broke; the client is closed afterwards. Bytes that it sent
     * before may still be read. NULL: not needed. */
    void (*broken)(struct pfdd_accepted_client *accepted_client);
    /* The client is being closed; called once. NULL: not needed. */
    void (*leave)(struct pfdd_accepted_client *accepted_client);
    /* The client is freed afterwards. NULL: not needed. */
    void (*gone)(struct pfdd_accepted_client *accepted_client);
    /* All clients and the listener have gone, after
     * pfdd_accepted_clients_close(). */
    void (*closed)(struct pfdd_accepted_clients *accepted_clients);
};

/* A member of the owner's struct. */
struct pfdd_accepted_clients {
    const struct pfdd_accepted_clients_class *class;
    uv_loop_t *loop;
    struct pfdd_counters *count;
    struct pfdd_listener listener;
    struct pfdd_peer_limit peer_limit;
    struct pfdd_accepted_client
        *first;     /* the newest; includes closing clients */
    unsigned n_max; /* places for one peer */
    bool closing;
    bool listener_closed;
};

/* class, loop, count and n_max are set before; access is borrowed until all is
 * closed. False: err [n_err] says why, and nothing is open. */
bool pfdd_accepted_clients_open(struct pfdd_accepted_clients *accepted_clients,
                                const struct pfdd_access *access, char *err,
                                size_t n_err);
void pfdd_accepted_clients_close(
    struct pfdd_accepted_clients *accepted_clients);
/* Bytes of memory, except the clients' own structs. */
size_t pfdd_accepted_clients_memory(
    const struct pfdd_accepted_clients *accepted_clients);

/* events: UV_READABLE, UV_WRITABLE; 0: none. */
void pfdd_accepted_client_watch(struct pfdd_accepted_client *v, int events);
/* Calls `late` after ms, when the input that has arrived by then was handled; 0:
 * cancels that. */
void pfdd_accepted_client_expect(struct pfdd_accepted_client *v, uint64_t ms);
/* The client is silent from now on, and may be evicted for others. */
void pfdd_accepted_client_fall_silent(struct pfdd_accepted_client *v);
void pfdd_accepted_client_close(struct pfdd_accepted_client *v);

/* Keeps the client's memory until pfdd_accepted_client_let_go(), also when the
 * client is closed. */
void pfdd_accepted_client_hold(struct pfdd_accepted_client *v);
void pfdd_accepted_client_let_go(struct pfdd_accepted_client *v);

/* Lends fd to a thread, to one at a time. Until it is taken back, its number is
 * not reused: if the client is closed, fd is only shut down. */
void pfdd_accepted_client_lend(struct pfdd_accepted_client *v);
/* A closing client may be freed by this. */
void pfdd_accepted_client_take_back(struct pfdd_accepted_client *v);

#endif
