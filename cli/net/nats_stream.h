/* SPDX-License-Identifier: MIT */
/*
 * Converts messages of edges (nats.h) into one stream of frames, like the one
 * that a daemon sends to subscribers: code objects before the entries that need
 * them, and the buffers of all edges with unique numbers.
 */
#ifndef CLI_NATS_STREAM_H
#define CLI_NATS_STREAM_H

#include "nats.h"

struct nats_stream {
    const struct nats_class *class;
    struct nats *nats;
    /* Consumes frames [n]. OUTCOME_STOPPED: it wants no more.
     * OUTCOME_FAILED: *why, borrowed, is the error. */
    enum outcome (*take)(void *user, const char *bytes, size_t n,
                         const char **why);
    void *user;
    const char **sources; /* [n_sources]; messages of others are skipped */
    size_t n_sources;     /* 0: of all */
    uint64_t since;       /* ns; older messages are skipped */
    struct pfd_wire_reader *reader; /* parses a message */
    char *bytes;                    /* [n] of [size], owned: frames that were
                                       not passed on yet */
    size_t n;
    size_t size;
    bool has_begun;
    void *lists; /* trees of things that are in the stream */
    void *objects;
    void *buffers;
    size_t n_held;     /* bytes of code objects in the stream */
    uint64_t n_things; /* lists, objects and buffers in the stream */
    uint64_t number;   /* the last number that was given to a thing */
    const char *wrong; /* the message's defect, in a few words, or NULL */
    bool has_put;      /* entries of the message were added nevertheless */
    char why[400];
};

void nats_stream_deinit(struct nats_stream *stream);

/*
 * Adds a message. OUTCOME_DONE: `wrong` says whether it was defective.
 * OUTCOME_STOPPED: the consumer wants no more. OUTCOME_FAILED: `why` holds the
 * error; unless `take` failed, none of the message's entries were passed on.
 */
enum outcome nats_stream_put(struct nats_stream *stream,
                             const struct nats_message *message);

#endif
