/* SPDX-License-Identifier: MIT */
/*
 * The client's side of TLS 1.3 on a non-blocking socket; the server's
 * certificate is verified. Steps return what they wait for; nothing waits here.
 * Without OpenSSL, no struct tls can be made.
 */
#ifndef CLI_TLS_H
#define CLI_TLS_H

#include <stddef.h>

/* The outcome of a step that may wait for the network. */

enum outcome {
    OUTCOME_DONE,
    OUTCOME_END,     /* the peer closed the connection */
    OUTCOME_LATE,    /* nothing was received in time */
    OUTCOME_STOPPED, /* ended by a signal */
    OUTCOME_FAILED,  /* `why` holds the error */
    /* Of single steps only: */
    OUTCOME_WANTS_READ,
    OUTCOME_WANTS_WRITE,
};

/* PEM files, named as in printfdecoded's configuration. Any may be NULL. */
struct tls_config {
    const char *authority;   /* CA that signs servers; NULL: the system's */
    const char *certificate; /* the client's; needs `key` */
    const char *key;
    const char *name; /* that the server's certificate must have; NULL: the name
                         that was connected to */
};

struct tls;

struct tls_class {
    /* Reads the files. NULL: err [n_err] holds the error. The config is
     * borrowed. */
    struct tls *(*make)(const struct tls_config *config, char *err,
                        size_t n_err);
    /* NULL is allowed. Sends close_notify if the connection allows it. */
    void (*free)(struct tls *tls);

    /* Begins on a connected socket, borrowed; peer: the name that was connected
     * to. From here on, OUTCOME_FAILED: why() has the error. */
    enum outcome (*begin)(struct tls *tls, int fd, const char *peer);
    enum outcome (*shake_hands)(struct tls *tls);
    enum outcome (*send)(struct tls *tls, const char *bytes, size_t n,
                         size_t *n_ret);
    enum outcome (*receive)(struct tls *tls, char *bytes, size_t n,
                            size_t *n_ret);

    const char *(*why)(const struct tls *tls);
};

/*
 * A module of its own (tls.c), loaded on first use: loading OpenSSL would
 * double the start-up time of every verb. NULL: err [n_err] holds the error.
 */
const struct tls_class *tls_load(char *err, size_t n_err);

/* Name of the module's symbol. */
#define TLS_CLASS "printfdecode_tls"
extern const struct tls_class printfdecode_tls
    __attribute__((visibility("default")));

#endif
