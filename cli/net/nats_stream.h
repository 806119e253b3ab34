/* SPDX-License-Identifier: MIT */
/*
 * Messages of edges (nats.h) as one stream of frames, as a daemon sends it to
 * who follows: code objects before what needs them, and buffers of all edges
 * under numbers of their own.
 */
#ifndef CLI_NATS_STREAM_H
#define CLI_NATS_STREAM_H

#include "nats.h"
#include "options.h"
#include "verbs/follow_entries.h"

struct nats_stream {
    const struct options *o;
    const struct nats_class *class;
    struct nats *nats;
    struct follow_entries *entries; /* that take it */
    uint64_t since;                 /* ns: what is older is left out */
    struct pfd_wire_reader *reader; /* of a message */
    char *bytes;                    /* [n] of [size], owned: not taken yet */
    size_t n;
    size_t size;
    bool has_begun;
    void *lists; /* trees of what the stream has */
    void *objects;
    void *buffers;
    size_t n_held;     /* bytes of code objects there */
    uint64_t n_things; /* lists, objects and buffers there */
    uint64_t number;   /* the last one that was given to a thing */
    const char *wrong; /* with a message: a few words, or NULL */
    bool has_put;      /* entries of it, all the same */
    char why[400];
};

void nats_stream_deinit(struct nats_stream *stream);

/*
 * OUTCOME_DONE, and `wrong` says why nothing came of it or what is missing;
 * OUTCOME_STOPPED: no more is wanted; OUTCOME_FAILED: `why` says why, and
 * nothing of it was taken.
 */
enum outcome nats_stream_put(struct nats_stream *stream,
                             const struct nats_message *message);

#endif
