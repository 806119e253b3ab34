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

#include "ring/log_record.h"

enum pfdd_forward_kind {
    PFDD_FORWARD_HELO, /* the peer asks for a proof of the key */
    PFDD_FORWARD_PONG, /* the peer accepts or refuses the proof */
    PFDD_FORWARD_ACK,
};

/* Bytes [n] of somewhere else. */
struct pfdd_piece {
    const void *at;
    size_t n;
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

/*
 * Authentication in the Forward protocol: both sides prove that they know a
 * shared key, and we also that we know a password. Reads the secrets from files
 * and makes the messages.
 */

enum {
    PFDD_SECRET_MAX = 4096, /* bytes of a key or password */
    PFDD_SALT_MAX = 256,    /* bytes of a nonce of the peer */
};

struct pfdd_secret {
    char at[PFDD_SECRET_MAX + 1]; /* [n] */
    size_t n;
};

struct pfdd_forward_auth {
    struct pfdd_secret key; /* n is 0: no key, and no handshake */
    const char *user;       /* borrowed; NULL: none */
    struct pfdd_secret password;
    char salt[33];
    char nonce[PFDD_SALT_MAX]; /* [n_nonce], of the peer */
    size_t n_nonce;
};

/* The keys of the configuration. */
struct pfdd_forward_auth_config {
    char *key_file; /* NULL: no shared key */
    char *user;     /* NULL: no user */
    char *password_file;
};

/* Reads the secrets from their files, without the newline at the end. False:
 * err [n_err] names the file that has none. */
bool pfdd_forward_auth_read(struct pfdd_forward_auth *g,
                            const struct pfdd_forward_auth_config *config,
                            char *err, size_t n_err);

/* Appends our answer to a HELO to out. NULL: success; else the reason. */
const char *pfdd_forward_auth_answer(struct pfdd_forward_auth *g,
                                     const struct pfdd_forward_said *helo,
                                     struct pfd_text *out);

/* Checks a PONG. NULL: the peer accepts us and has proved the key; else the
 * reason. */
const char *pfdd_forward_auth_check(const struct pfdd_forward_auth *g,
                                    const struct pfdd_forward_said *pong);

/* n_bytes (at most 16) random bytes as hexadecimal digits and a NUL. */
bool pfdd_make_random(char *ret, size_t n_bytes);

#endif
