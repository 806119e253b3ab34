/* SPDX-License-Identifier: MIT */
/*
 * The client's side of TLS on a socket that does not block: TLS 1.3, and the
 * server has to prove that it is the one we want. Steps say what they wait
 * for; nothing waits here. Without OpenSSL none of this can be made.
 */
#ifndef CLI_TLS_H
#define CLI_TLS_H

#include <stddef.h>

#include "connection.h"

/* PEM files, named as in printfdecoded's configuration. Any may be NULL. */
struct tls_config {
    const char *authority;   /* that signs servers; NULL: the system's */
    const char *certificate; /* ours, with `key` or not at all */
    const char *key;
    const char *name; /* that the server proves; NULL: the one we connect to */
};

struct tls;

struct tls_class {
    /* Reads the files. NULL: err [n_err] says why. The config is borrowed. */
    struct tls *(*make)(const struct tls_config *config, char *err,
                        size_t n_err);
    /* NULL is allowed. Says goodbye where somebody may hear it. */
    void (*free)(struct tls *tls);

    /* On a connected socket, borrowed; peer: the name it was found by.
     * OUTCOME_FAILED from here on: why(). */
    enum outcome (*begin)(struct tls *tls, int fd, const char *peer);
    enum outcome (*shake_hands)(struct tls *tls);
    enum outcome (*send)(struct tls *tls, const char *bytes, size_t n,
                         size_t *n_ret);
    enum outcome (*receive)(struct tls *tls, char *bytes, size_t n,
                            size_t *n_ret);

    const char *(*why)(const struct tls *tls);
};

/*
 * A module of its own (tls.c), loaded when it is first wanted: what OpenSSL
 * needs to be loaded would double the time in which any verb starts. NULL: err
 * [n_err] says why.
 */
const struct tls_class *tls_load(char *err, size_t n_err);

/* The module's name for it. */
#define TLS_CLASS "printfdecode_tls"
extern const struct tls_class printfdecode_tls
    __attribute__((visibility("default")));

#endif
