/* SPDX-License-Identifier: MIT */
/*
 * The NATS servers that carry entries from edges to workers: their addresses,
 * authentication of both sides, and limits of the stored data.
 */
#ifndef PFDD_NATS_OPTIONS_H
#define PFDD_NATS_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "config/access.h"
#include "config/key_lookup.h"

struct pfdd_nats_options {
    struct pfdd_names servers; /* nats://HOST:PORT or tls://HOST:PORT */
    char *credentials_file;    /* in the format of nsc; NULL: none */
    char *user;                /* NULL: none */
    char *password_file;
    struct pfdd_tls_config tls;
    uint64_t replicas;   /* servers that store each message */
    uint64_t stream_max; /* bytes of stored entries on each server */
    uint64_t stream_age_ms;
};

extern const struct pfdd_group pfdd_nats_options_group;

struct pfdd_block;

/* The options of an input or output; NULL: its class has none. */
const struct pfdd_nats_options *pfdd_nats_options_of(
    const struct pfdd_block *block);

/* True: the connection uses TLS. */
bool pfdd_nats_options_has_tls(const struct pfdd_nats_options *nats_options);

/* Writes "nats://a:4222 and 2 others, with TLS" and the like. */
void pfdd_nats_options_plan(const struct pfdd_nats_options *nats_options,
                            FILE *out);

#endif
