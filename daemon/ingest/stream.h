/* SPDX-License-Identifier: MIT */
/*
 * A stream of capture frames (printfdecode/wire.h) from one producer. Its code
 * objects go to the string store, each of its buffers gets a follower. The
 * caller feeds bytes, split anywhere. Loop thread only.
 */
#ifndef PFDD_STREAM_H
#define PFDD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>

struct pfdd_ingest;
struct pfdd_resource_account;
struct pfdd_peer;
struct pfdd_stream;

enum {
    PFDD_STREAM_SMALL = 192 << 10, /* bytes for frames that each stream may
                                      have */
};

struct pfdd_stream_options {
    const char *name; /* (name.h), of buffers without one; copied */
    uint64_t settle_ms;
    struct pfd_options options; /* of buffers whose frames have none */
    const char *format;         /* likewise; static; NULL: it is chosen */
    /* Of rings whose producer sends none; borrowed until ended; NULL: none. */
    const struct pfdd_description *description;
    long long pid;          /* of the peer; 0: as its frames say */
    struct pfdd_peer *peer; /* with whose rights URIs are read; NULL: they
                                   are refused */
    struct pfdd_resource_account
        *account;               /* charged with its resources; NULL: none */
    bool may_be_raw;            /* bytes that are no capture are one buffer */
    bool is_kept;               /* of the fd store, from before a restart */
    void (*resume)(void *user); /* it takes bytes again */
    void (*ended)(void *user);  /* after pfdd_stream_end() */
    void *user;
};

/* NULL: out of memory. */
struct pfdd_stream *pfdd_stream_new(struct pfdd_ingest *ingest,
                                    const struct pfdd_stream_options *options);

/*
 * Takes bytes [n], and takes over descriptors [n_fds]. *taken: bytes that were
 * taken; fewer than n: the caller feeds the rest after `resume`. False: the
 * stream cannot be used, and the caller ends it.
 */
bool pfdd_stream_feed(struct pfdd_stream *st, const void *bytes, size_t n,
                      const int *fds, size_t n_fds, size_t *taken);

/* All code objects have come: modules without a `shader` frame get free
 * numbers. */
void pfdd_stream_settle(struct pfdd_stream *st);

/* True: `resume` will be called; too early for pfdd_stream_end(). */
bool pfdd_stream_is_waiting(const struct pfdd_stream *st);

/* True: it has buffers that are followed. */
bool pfdd_stream_has_buffers(const struct pfdd_stream *st);

/* No more bytes: followers emit the rest, then `ended` is called and the stream
 * is gone. */
void pfdd_stream_end(struct pfdd_stream *st);

#endif
