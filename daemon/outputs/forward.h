/* SPDX-License-Identifier: MIT */
/*
 * What is said in Fluent's Forward protocol. By the peer: greetings, answers to
 * ours, and which chunks it has; any bytes are safe to read, and nothing is
 * allocated. By us: notes, chunks of them, and that we know the key. (The
 * protocol: github.com/fluent/fluentd/wiki, Forward Protocol Specification v1.)
 */
#ifndef PFDD_FORWARD_H
#define PFDD_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha512.h"
#include "ring/log_record.h"

enum pfdd_forward_kind {
    PFDD_FORWARD_HELO, /* it wants to know whether we know the key */
    PFDD_FORWARD_PONG, /* and whether it believes us */
    PFDD_FORWARD_ACK,
};

/* Borrowed from the bytes; what was not said is empty. */
struct pfdd_forward_said {
    enum pfdd_forward_kind kind;
    struct pfdd_piece nonce; /* HELO */
    struct pfdd_piece auth;  /* likewise: it wants a user, too */
    bool is_known;           /* PONG */
    struct pfdd_piece host;
    struct pfdd_piece proof;
    struct pfdd_piece chunk; /* ACK */
};

/* The first message of bytes [n]; returns how many it has, 0: they are not all
 * there, below 0: it is none. */
long pfdd_forward_read(const void *bytes, size_t n,
                       struct pfdd_forward_said *ret);

/* [EventTime, {"message": ..., "severity": ..., what is known}], all texts. */
extern const struct pfdd_encoding pfdd_forward_encoding;

/* [tag, entries, {"chunk": name, "size": n_notes}], with "compressed": "gzip" in
 * it if they are; entries [n]: notes. */
struct pfdd_forward_chunk {
    const char *tag;
    const char *name;
    const char *entries;
    size_t n;
    uint64_t n_notes;
    bool is_gzip;
};
void pfdd_forward_message(struct pfdd_byte_buffer *out,
                          const struct pfdd_forward_chunk *chunk);

/* ["PING", host, salt, proof, user, what proves its password]; both empty: none
 * is asked for. */
void pfdd_forward_ping(struct pfdd_byte_buffer *out, const char *host,
                       const char *salt, const char *proof, const char *user,
                       const char *password);

#endif
