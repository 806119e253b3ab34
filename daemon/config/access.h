/* SPDX-License-Identifier: MIT */
/* Who may connect, and how the other end is known. */
#ifndef PFDD_ACCESS_H
#define PFDD_ACCESS_H

#include <stdint.h>
#include <stdio.h>

#include "config/address.h"
#include "config/keys.h"

/* PEM files; all NULL: no TLS. */
struct pfdd_tls_config {
    char *certificate; /* ours, with those between it and the authority */
    char *key;
    char *authority; /* who signs the certificates of peers */
    char *name; /* in the certificate of whom we connect to; NULL: its IP */
};

struct pfdd_access {
    struct pfdd_address address;
    struct pfdd_tls_config tls;
    unsigned mode; /* of a unix socket */
    struct pfdd_ids uids;
    struct pfdd_ids gids;
    uint64_t max_clients;
};

/* Of struct pfdd_access: who may connect to us; to whom we connect; and, for
 * either, TLS. */
extern const struct pfdd_group pfdd_listen_group;
extern const struct pfdd_group pfdd_connect_group;
extern const struct pfdd_group pfdd_tls_group;

/* " (64 at most, mode 0660)" and the like. */
void pfdd_access_explain(const struct pfdd_access *access, FILE *out);

#endif
