/* SPDX-License-Identifier: MIT */
/* The processes that are connected to a unix socket. */
#ifndef CLI_SOCKET_PEERS_H
#define CLI_SOCKET_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    SOCKET_PEERS_MAX = 64
};

struct socket_peer {
    pid_t pid;     /* 0: it is not this user's to see */
    char name[32]; /* of its program; empty: unknown */
};

struct socket_peers {
    size_t n; /* connections; the first ones are in `all` */
    struct socket_peer all[SOCKET_PEERS_MAX];
};

/* False: the system does not say. */
bool socket_peers_read(struct socket_peers *ret, const char *path);

#endif
