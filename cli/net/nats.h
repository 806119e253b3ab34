/* SPDX-License-Identifier: MIT */
/*
 * Reads what edges of printfdecoded have published to NATS servers
 * (daemon/SCALING.md): messages of the stream GPULOG, and the code objects that
 * they need. Leaves nothing on the server. One thread; calls wait for the
 * network, up to some seconds.
 */
#ifndef CLI_NATS_H
#define CLI_NATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls.h"

enum {
    NATS_EDGE_NAME = 33,  /* 32 hexadecimal digits and a NUL */
    NATS_DIGEST_HEX = 65, /* SHA-256 in hexadecimal, and a NUL */
};

/* All members but url may be NULL. */
struct nats_config {
    const char *url;         /* nats://HOST:PORT or tls://HOST:PORT; several are
                                separated by commas */
    const char *credentials; /* a file in the format of nsc */
    const char *user;
    const char *password_file;
    const struct tls_config *tls;
    bool persists; /* reconnect when the connection is lost */
};

/* State of the stream GPULOG. */
struct nats_state {
    uint64_t first; /* number of the first message that is stored */
    uint64_t last;  /* of the last one; 0: none was ever stored */
    int64_t created;
};

/* Borrowed until the next call. */
struct nats_message {
    uint64_t number; /* in the stream */
    uint64_t time;   /* of storage on the server, ns since 1970 */
    bool is_edges;   /* an edge's message; false: the members below are
                               not set */
    char edge[NATS_EDGE_NAME]; /* name of the edge */
    char code
        [NATS_DIGEST_HEX]; /* digest of its list of code objects; "": none */
    char place
        [NATS_EDGE_NAME]; /* second place of the list, chosen by the edge; or
                               "" */
    uint64_t first;       /* sequence numbers of its items, given by the
                               edge */
    uint64_t last;
    uint64_t previous; /* of the item before `first` */
    const char *bytes; /* [n]: frames */
    size_t n;
};

struct nats;

struct nats_class {
    /* NULL: err [n_err] holds the error. The config is borrowed. */
    struct nats *(*open)(const struct nats_config *config, char *err,
                         size_t n_err);
    void (*close)(struct nats *nats); /* NULL is allowed */

    /* From here on, OUTCOME_FAILED: why() has the error. OUTCOME_END: the
     * stream does not exist. */
    enum outcome (*look)(struct nats *nats, struct nats_state *ret);

    /* Gets the first message with this number or a higher one. OUTCOME_END:
     * there is none. */
    enum outcome (*next)(struct nats *nats, uint64_t number,
                         struct nats_message *ret);

    /* Gets the bytes [*n] of this digest, at most n_max; the caller frees them.
     * place: a second place to look in, or "". OUTCOME_END: they are missing,
     * or do not match the digest. */
    enum outcome (*fetch)(struct nats *nats, const char *digest,
                          const char *place, size_t n_max, char **ret,
                          size_t *n);

    const char *(*why)(const struct nats *nats);
};

/*
 * A module of its own (nats.c), loaded on first use, like that of TLS. NULL:
 * err [n_err] holds the error.
 */
const struct nats_class *nats_load(char *err, size_t n_err);

/* Name of the module's symbol. */
#define NATS_CLASS "printfdecode_nats"
extern const struct nats_class printfdecode_nats
    __attribute__((visibility("default")));

#endif
