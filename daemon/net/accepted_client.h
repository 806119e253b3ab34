/* SPDX-License-Identifier: MIT */
/*
 * Those who come to a socket that an output listens on, and stay: let in while
 * there is a place, which whoever is silent makes for others (peer_limit.h), watched,
 * timed, and freed once nothing of theirs is open any more. What they say and
 * get is their owner's. Loop thread only.
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

/* What an owner has of one begins with it. */
struct pfdd_accepted_client {
    struct pfdd_accepted_clients *of;
    struct pfdd_accepted_client *next;
    struct pfdd_limited_peer
        limited_peer; /* silent from when it comes; the owner's */
    int fd;
    int events;   /* polled for */
    bool is_lent; /* fd is a thread's, too */
    bool closing; /* fd is closed, or, if lent, leads nowhere; its memory stays
                     until it is freed */
    /* Private. */
    uv_poll_t poll;
    uv_timer_t timer;
    unsigned n_holds; /* handles that are open, and holds */
};

/* The owner's hooks. A visitor that is closing is in none but `gone`. */
struct pfdd_accepted_clients_class {
    size_t size; /* of a visitor with what the owner has of it */
    /* False: who is at the other end of fd may not stay, and was told why; it is
     * counted. NULL: everybody may for whom there is a place. */
    bool (*admit)(struct pfdd_accepted_clients *accepted_clients, int fd);
    /* Is there, all zeros behind the visitor, and not watched. */
    void (*come)(struct pfdd_accepted_client *accepted_client);
    /* UV_READABLE, UV_WRITABLE of what it is watched for. */
    void (*event)(struct pfdd_accepted_client *accepted_client, int events);
    /* Its time is over; NULL: it is closed. */
    void (*late)(struct pfdd_accepted_client *accepted_client);
    /* Its connection broke, and it is about to be closed: what it said before
     * may still be read. NULL: nobody wants to know. */
    void (*broken)(struct pfdd_accepted_client *accepted_client);
    /* Is being closed; once. NULL: nothing is to be done. */
    void (*leave)(struct pfdd_accepted_client *accepted_client);
    /* Its memory goes behind this; NULL likewise. */
    void (*gone)(struct pfdd_accepted_client *accepted_client);
    /* All have gone, and the listener; after pfdd_accepted_clients_close(). */
    void (*closed)(struct pfdd_accepted_clients *accepted_clients);
};

/* A member of its owner's. */
struct pfdd_accepted_clients {
    const struct pfdd_accepted_clients_class *class;
    uv_loop_t *loop;
    struct pfdd_counters *count;
    struct pfdd_listener listener;
    struct pfdd_peer_limit peer_limit;
    struct pfdd_accepted_client
        *first;     /* the newest; with those that are closing */
    unsigned n_max; /* places for one peer */
    bool closing;
    bool listener_closed;
};

/* class, loop, count and n_max are set before; access is borrowed until all is
 * closed. False: err says why, and nothing is to be closed. */
bool pfdd_accepted_clients_open(struct pfdd_accepted_clients *accepted_clients,
                                const struct pfdd_access *access, char *err,
                                size_t n_err);
void pfdd_accepted_clients_close(
    struct pfdd_accepted_clients *accepted_clients);
/* Bytes, beside the visitors themselves. */
size_t pfdd_accepted_clients_memory(
    const struct pfdd_accepted_clients *accepted_clients);

/* events: UV_READABLE, UV_WRITABLE; 0: it is not watched. */
void pfdd_accepted_client_watch(struct pfdd_accepted_client *accepted_client,
                                int events);
/* `late` comes after so long; 0: not at all. */
void pfdd_accepted_client_expect(struct pfdd_accepted_client *accepted_client,
                                 uint64_t ms);
/* It is silent from now on, and makes way for others. */
void pfdd_accepted_client_fall_silent(
    struct pfdd_accepted_client *accepted_client);
void pfdd_accepted_client_close(struct pfdd_accepted_client *accepted_client);

/* Its memory stays until it is let go, also when it is closed. */
void pfdd_accepted_client_hold(struct pfdd_accepted_client *accepted_client);
void pfdd_accepted_client_let_go(struct pfdd_accepted_client *accepted_client);

/* A thread uses fd, one at a time: the number is nobody else's until it is taken
 * back, also when the visitor is closed; it leads nowhere then. */
void pfdd_accepted_client_lend(struct pfdd_accepted_client *accepted_client);
/* The visitor may be gone behind this, if it is closing. */
void pfdd_accepted_client_take_back(
    struct pfdd_accepted_client *accepted_client);

#endif
