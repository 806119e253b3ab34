/* SPDX-License-Identifier: MIT */
/*
 * Authentication in the Forward protocol: both sides prove that they know a
 * shared key, and we also that we know a password. Reads the secrets from files
 * and makes the messages (forward.h).
 */
#ifndef PFDD_FORWARD_AUTH_H
#define PFDD_FORWARD_AUTH_H

#include "outputs/forward.h"

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
