/* SPDX-License-Identifier: MIT */
/*
 * How two sides of the Forward protocol show each other that they know a key,
 * and we a password: what is read from files, and what is said (forward.h).
 */
#ifndef PFDD_FORWARD_AUTH_H
#define PFDD_FORWARD_AUTH_H

#include "outputs/forward.h"

enum {
    PFDD_SECRET_MAX = 4096, /* bytes of a key or password */
    PFDD_SALT_MAX = 256,    /* of what a peer sends to be mixed in */
};

struct pfdd_secret {
    char at[PFDD_SECRET_MAX + 1]; /* [n] */
    size_t n;
};

struct pfdd_forward_auth {
    struct pfdd_secret key; /* n is 0: there is none, and nobody greets */
    const char *user;       /* borrowed; NULL: none */
    struct pfdd_secret password;
    char salt[33];
    char nonce[PFDD_SALT_MAX]; /* [n_nonce], the peer's */
    size_t n_nonce;
};

/* Where that is configured. */
struct pfdd_forward_auth_config {
    char *key_file; /* NULL: the peer wants no key */
    char *user;     /* NULL: it wants none */
    char *password_file;
};

/* Secrets are what their files have, without the newline at the end. False: err
 * [n_err] says which of them is in none. */
bool pfdd_forward_auth_read(struct pfdd_forward_auth *g,
                            const struct pfdd_forward_auth_config *config,
                            char *err, size_t n_err);

/* Our answer to a HELO, added to out. NULL: all is well; else why not. */
const char *pfdd_forward_auth_answer(struct pfdd_forward_auth *g,
                                     const struct pfdd_forward_said *helo,
                                     struct pfdd_byte_buffer *out);

/* Of a PONG: NULL, if it lets us in and knows the key itself; else why not. */
const char *pfdd_forward_auth_check(const struct pfdd_forward_auth *g,
                                    const struct pfdd_forward_said *pong);

/* Bytes [n] of chance, at most 16, as hexadecimal digits and a NUL. */
bool pfdd_make_random(char *ret, size_t n_bytes);

#endif
