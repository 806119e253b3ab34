/* SPDX-License-Identifier: MIT */
/*
 * A stream of capture frames (printfdecode/wire.h) from one producer: its code
 * objects go to the library, each of its buffers becomes a session. Bytes come
 * from whoever has them, split anywhere. Loop thread only.
 */
#ifndef PFDD_STREAM_H
#define PFDD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>

struct pfdd;
struct pfdd_resource_account;
struct pfdd_peer;
struct pfdd_stream;

enum {
    PFDD_STREAM_SMALL = 192 << 10, /* memory for frames that each may have */
};

struct pfdd_stream_options {
    const char *name; /* (name.h), of what has none; copied */
    uint64_t settle_ms;
    struct pfd_options options; /* of buffers that do not say otherwise */
    long long pid;              /* of the peer; 0: as it says itself */
    struct pfdd_peer *peer;     /* who may use URIs; NULL: nobody */
    struct pfdd_resource_account
        *account;               /* of what it makes us have; NULL: nobody
                                   counts */
    bool may_be_raw;            /* what is no capture is one buffer */
    bool is_kept;               /* the shelf's, of before */
    void (*resume)(void *user); /* bytes are wanted again */
    void (*ended)(void *user);  /* after pfdd_stream_end() */
    void *user;
};

/* NULL: out of memory. */
struct pfdd_stream *pfdd_stream_new(struct pfdd *d,
                                    const struct pfdd_stream_options *options);

/*
 * Takes bytes [n] and descriptors [n_fds], which are taken over. *taken: how
 * many bytes; fewer than n: hand over the rest after `resume`. False: no use
 * can be made of this stream, end it.
 */
bool pfdd_stream_feed(struct pfdd_stream *st, const void *bytes, size_t n,
                      const int *fds, size_t n_fds, size_t *taken);

/* All code objects are there: modules that no shader spoke of are taken. */
void pfdd_stream_settle(struct pfdd_stream *st);

/* True: `resume` will be called; not yet the time for pfdd_stream_end(). */
bool pfdd_stream_is_waiting(const struct pfdd_stream *st);

/* True: it has buffers that are followed. */
bool pfdd_stream_has_buffers(const struct pfdd_stream *st);

/* The process that sends, 0: not known. */
long long pfdd_stream_pid(const struct pfdd_stream *st);

/* No more bytes: sessions give what is left, then `ended` is called and the
 * stream is gone. */
void pfdd_stream_end(struct pfdd_stream *st);

#endif
