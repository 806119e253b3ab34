/* SPDX-License-Identifier: MIT */
/* Which peers may connect, and how TLS identifies the peer. */
#ifndef PFDD_ACCESS_H
#define PFDD_ACCESS_H

#include <stdint.h>
#include <stdio.h>

#include "config/address.h"
#include "config/key_lookup.h"

/* PEM files; all NULL: no TLS. */
struct pfdd_tls_config {
    char *certificate; /* ours, with its chain up to the authority */
    char *key;
    char *authority; /* signs the certificates of peers */
    char *name;      /* in the server's certificate; NULL: its IP address */
};

struct pfdd_access {
    struct pfdd_address address;
    struct pfdd_tls_config tls;
    unsigned mode; /* of a unix socket */
    struct pfdd_ids uids;
    struct pfdd_ids gids;
    uint64_t max_clients;
};

/* Of struct pfdd_access: which peers may connect; the server to connect to;
 * and, for either, TLS. */
extern const struct pfdd_group pfdd_listen_group;
extern const struct pfdd_group pfdd_connect_group;
extern const struct pfdd_group pfdd_tls_group;

/* Writes " (64 at most, mode 0660)" and the like. */
void pfdd_access_explain(const struct pfdd_access *access, FILE *out);

#endif
