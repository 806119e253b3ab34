/* SPDX-License-Identifier: MIT */
/*
 * Messages of Fluent's Forward protocol. From the peer: handshakes and
 * acknowledgements of chunks; any bytes are safe to parse, and nothing is
 * allocated. To the peer: log records, chunks of them, and the proof that we
 * know the key. (The protocol: github.com/fluent/fluentd/wiki, Forward Protocol
 * Specification v1.)
 */
#ifndef PFDD_FORWARD_H
#define PFDD_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha512.h"
#include "ring/log_record.h"

enum pfdd_forward_kind {
    PFDD_FORWARD_HELO, /* the peer asks for a proof of the key */
    PFDD_FORWARD_PONG, /* the peer accepts or refuses the proof */
    PFDD_FORWARD_ACK,
};

/* Borrowed from the bytes; missing fields are empty. */
struct pfdd_forward_said {
    enum pfdd_forward_kind kind;
    struct pfdd_piece nonce; /* HELO */
    struct pfdd_piece auth;  /* likewise; not empty: it asks for a user, too */
    bool is_known;           /* PONG */
    struct pfdd_piece host;
    struct pfdd_piece proof;
    struct pfdd_piece chunk; /* ACK */
};

/* Parses the first message of bytes [n]. Returns its size; 0: it is incomplete;
 * below 0: it is invalid. */
long pfdd_forward_read(const void *bytes, size_t n,
                       struct pfdd_forward_said *ret);

/* [EventTime, {"message": ..., "severity": ..., fields}], all of them texts. */
extern const struct pfdd_encoding pfdd_forward_encoding;

/* [tag, entries, {"chunk": name, "size": n_notes}], with "compressed": "gzip"
 * if the entries are compressed; entries [n]: log records. */
struct pfdd_forward_chunk {
    const char *tag;
    const char *name;
    const char *entries;
    size_t n;
    uint64_t n_notes;
    bool is_gzip;
};
void pfdd_forward_message(struct pfd_text *out,
                          const struct pfdd_forward_chunk *chunk);

/* ["PING", host, salt, proof, user, proof of the password]; the last two are
 * empty if the peer does not ask for a user. */
void pfdd_forward_ping(struct pfd_text *out, const char *host, const char *salt,
                       const char *proof, const char *user,
                       const char *password);

#endif
