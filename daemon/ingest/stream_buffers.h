/* SPDX-License-Identifier: MIT */
/*
 * The buffers of one stream: a session for each, of memory that the producer
 * shares or of bytes that come. Loop thread only.
 */
#ifndef PFDD_STREAM_BUFFERS_H
#define PFDD_STREAM_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/wire.h>

#include "base/name.h"

struct pfdd;
struct pfdd_resource_account;
struct pfdd_objects;
struct pfdd_stream;
struct pfdd_stream_buffer;

enum {
    PFDD_UNCLAIMED_MAX = 16, /* descriptors that wait for their frame */
};

struct pfdd_stream_buffers {
    struct pfdd *d;
    struct pfdd_stream *stream;
    const char *name; /* of the stream; borrowed, as what follows */
    const struct pfdd_objects *objects;
    const struct pfd_options *options; /* of buffers that say nothing else */
    uint64_t settle_ms;
    long long pid; /* of the peer; 0: as it says itself */
    struct pfdd_resource_account *account; /* NULL: nobody counts */
    /* Why something cannot be used. */
    void (*refused)(void *user, const char *why);
    /* A session has ended; may free these. was_awaited: what had to wait for
     * it need not wait any more. */
    void (*ended)(void *user, bool was_awaited);
    void *user;
    /* From here on, all zero at first. */
    struct pfdd_stream_buffer *first;
    size_t n;
    size_t n_sessions;
    struct pfdd_stream_buffer *waiting_for; /* its old session ends first */
    int fds[PFDD_UNCLAIMED_MAX];
    size_t n_fds;
    uint64_t features;   /* of the stream (wire.h) */
    uint64_t raw_bytes;  /* so far */
    uint64_t gaps_since; /* uv_now(), from which on n_gaps are counted */
    unsigned n_gaps;
    const char *held_reason; /* of gaps that are put together; NULL: none */
    uint64_t held_missed;
    /* Of the sender. */
    char host[PFDD_NAME_ROOM];
    char process[PFDD_NAME_ROOM];
    uint64_t said_pid;
};

/* Descriptors [n] that came, for frames that claim them; taken over. */
void pfdd_stream_buffers_pass(struct pfdd_stream_buffers *all, const int *fds,
                              size_t n);

/* Who sends, by its first frame. */
void pfdd_stream_buffers_hello(struct pfdd_stream_buffers *all,
                               const struct pfd_wire_frame *f);

/* There is room for what a frame `buffer` begins, or for the bytes of `data`. */
bool pfdd_stream_buffers_have_room(struct pfdd_stream_buffers *all,
                                   const struct pfd_wire_frame *f);
/* There is none, and it is others that have it. */
bool pfdd_stream_buffers_are_short(const struct pfdd_stream_buffers *all,
                                   const struct pfd_wire_frame *f);

/* A frame `buffer`. False: it cannot be taken yet, `waiting_for` ends first. */
bool pfdd_stream_buffers_take(struct pfdd_stream_buffers *all,
                              const struct pfd_wire_frame *f);

/* Frames `data` and `done`. */
void pfdd_stream_buffers_data(struct pfdd_stream_buffers *all,
                              const struct pfd_wire_frame *f);
void pfdd_stream_buffers_done(struct pfdd_stream_buffers *all,
                              const struct pfd_wire_frame *f);

/* A frame `entries`. False: it cannot be taken yet. */
bool pfdd_stream_buffers_entries(struct pfdd_stream_buffers *all,
                                 const struct pfd_wire_frame *f);

/* Bytes of a stream that has no frames: all of it is one buffer. False: no
 * more of it can be taken. */
bool pfdd_stream_buffers_raw(struct pfdd_stream_buffers *all, const void *bytes,
                             size_t n);

/* A gap record, of the buffer of that number if it is followed, else of the
 * stream. */
void pfdd_stream_buffers_gap(struct pfdd_stream_buffers *all,
                             const uint64_t *number, const char *reason,
                             uint64_t missed);

/* Gaps that were too many for a record each, when it is time, or at the end. */
void pfdd_stream_buffers_tell_held(struct pfdd_stream_buffers *all,
                                   bool at_end);

/* Numbers of buffers say something else from now on: those that there are give
 * what is left, then end. */
void pfdd_stream_buffers_leave(struct pfdd_stream_buffers *all);

/* The process that sends, 0: not known. */
long long pfdd_stream_buffers_pid(const struct pfdd_stream_buffers *all);

/* No session is left. */
void pfdd_stream_buffers_deinit(struct pfdd_stream_buffers *all);

#endif
