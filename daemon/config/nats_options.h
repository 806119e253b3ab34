/* SPDX-License-Identifier: MIT */
/*
 * The servers of NATS that carry entries from edges to workers: where they
 * are, how both sides know each other, and what may lie there.
 */
#ifndef PFDD_NATS_OPTIONS_H
#define PFDD_NATS_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "config/access.h"
#include "config/keys.h"

struct pfdd_nats_options {
    struct pfdd_names servers; /* nats://HOST:PORT or tls://HOST:PORT */
    char *credentials_file;    /* a user's, as nsc writes it; NULL: none */
    char *user;                /* NULL: none */
    char *password_file;
    struct pfdd_tls_config tls;
    uint64_t replicas;   /* of what lies there, servers */
    uint64_t stream_max; /* bytes of entries on each of them */
    uint64_t stream_age_ms;
};

extern const struct pfdd_group pfdd_nats_options_group;

struct pfdd_block;

/* That of an input or output; NULL: it has none. */
const struct pfdd_nats_options *pfdd_nats_options_of(
    const struct pfdd_block *block);

/* True: TLS is spoken. */
bool pfdd_nats_options_has_tls(const struct pfdd_nats_options *nats_options);

/* "nats://a:4222 and 2 others, with TLS" and the like. */
void pfdd_nats_options_plan(const struct pfdd_nats_options *nats_options,
                            FILE *out);

#endif
