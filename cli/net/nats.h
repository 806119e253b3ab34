/* SPDX-License-Identifier: MIT */
/*
 * What edges of printfdecoded have sent to servers of NATS (daemon/SCALING.md):
 * messages of the stream GPULOG, and the code objects that they need. It is
 * read without leaving anything there. One thread; calls wait for the network,
 * some seconds at most.
 */
#ifndef CLI_NATS_H
#define CLI_NATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "connection.h"

enum {
    FARM_EDGE = 33,   /* 32 hexadecimal digits and a NUL */
    FARM_DIGEST = 65, /* SHA-256 in hexadecimal, and a NUL */
};

/* All but the URL may be NULL. */
struct nats_config {
    const char *url;         /* nats://HOST:PORT or tls://HOST:PORT; several
                                with commas between them */
    const char *credentials; /* a file, as nsc writes it */
    const char *user;
    const char *password_file;
    const struct tls_config *tls;
    bool persists; /* a connection that is lost is made again */
};

/* Of GPULOG. */
struct nats_state {
    uint64_t first; /* numbers of the messages that are there */
    uint64_t last;  /* 0: none was ever there */
    int64_t created;
};

/* Borrowed until the next one. */
struct nats_message {
    uint64_t number;        /* in the stream */
    uint64_t time;          /* when the server took it, ns since 1970 */
    bool is_edges;          /* false: nothing of the following is there */
    char edge[FARM_EDGE];   /* who sent it */
    char code[FARM_DIGEST]; /* of a list of code objects; "": none */
    char place[FARM_EDGE];  /* where the edge has put it, too; or "" */
    uint64_t first;         /* sequence numbers of its items, the edge's */
    uint64_t last;
    uint64_t previous; /* of the item before them */
    const char *bytes; /* [n]: frames */
    size_t n;
};

struct nats;

struct nats_class {
    /* NULL: err [n_err] says why. The config is borrowed. */
    struct nats *(*open)(const struct nats_config *config, char *err,
                         size_t n_err);
    void (*close)(struct nats *nats); /* NULL is allowed */

    /* OUTCOME_FAILED from here on: why(). OUTCOME_END: there is no stream. */
    enum outcome (*look)(struct nats *nats, struct nats_state *ret);

    /* The first message with this number or a higher one. OUTCOME_END: there is
     * none. */
    enum outcome (*next)(struct nats *nats, uint64_t number,
                         struct nats_message *ret);

    /* Bytes [*n] with this digest, of at most n_max, the caller's to free; place:
     * where they may lie, too, or "". OUTCOME_END: they are not there, or not
     * what the digest says. */
    enum outcome (*fetch)(struct nats *nats, const char *digest,
                          const char *place, size_t n_max, char **ret,
                          size_t *n);

    const char *(*why)(const struct nats *nats);
};

/*
 * A module of its own (nats.c), loaded when it is first wanted, as that of TLS
 * is. NULL: err [n_err] says why.
 */
const struct nats_class *nats_load(char *err, size_t n_err);

/* The module's name for it. */
#define FARM_CLASS "printfdecode_farm"
extern const struct nats_class printfdecode_farm
    __attribute__((visibility("default")));

#endif
