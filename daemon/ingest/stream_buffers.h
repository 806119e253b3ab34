/* SPDX-License-Identifier: MIT */
/*
 * The buffers of one stream, each with a follower: of memory that the producer
 * shares, or of bytes that come in frames. Loop thread only.
 */
#ifndef PFDD_STREAM_BUFFERS_H
#define PFDD_STREAM_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include <printfdecode/wire.h>

#include "base/name.h"

struct pfdd_ingest;
struct pfdd_resource_account;
struct pfdd_objects;
struct pfdd_stream;
struct pfdd_stream_buffer;

enum {
    PFDD_UNCLAIMED_MAX = 16, /* descriptors that wait for their frame */
};

struct pfdd_stream_buffers {
    struct pfdd_ingest *ingest;
    struct pfdd_stream *stream;
    const char *name; /* of the stream; borrowed, as are objects and options */
    struct pfdd_objects *objects;
    const struct pfd_options *options; /* of buffers whose frames have none */
    const char *format; /* likewise; static; NULL: it is chosen */
    uint64_t settle_ms;
    long long pid; /* of the peer; 0: as its frames say */
    struct pfdd_resource_account *account; /* NULL: none */
    /* Reports why something cannot be used. */
    void (*refused)(void *user, const char *why);
    /* Likewise, for want of memory or descriptors. */
    void (*lacking)(void *user, const char *why);
    /* A follower has ended; may free this struct. was_awaited: a frame waited
     * for that. */
    void (*ended)(void *user, bool was_awaited);
    void *user;
    /* All zeros at first from here on. */
    struct pfdd_stream_buffer *first;
    size_t n;
    size_t n_followers;
    struct pfdd_stream_buffer *waiting_for; /* its old follower ends first */
    int fds[PFDD_UNCLAIMED_MAX];
    size_t n_fds;
    uint64_t features;   /* of the stream (wire.h) */
    uint64_t raw_bytes;  /* so far */
    uint64_t gaps_since; /* uv_now(), from which on n_gaps counts */
    unsigned n_gaps;
    const char *held_reason; /* of combined gaps; NULL: none */
    uint64_t held_missed;
    /* Of the sender. */
    char host[PFDD_NAME_ROOM];
    char process[PFDD_NAME_ROOM];
    uint64_t said_pid;
};

/* Takes over descriptors [n] that came, for frames that claim them. */
void pfdd_stream_buffers_pass(struct pfdd_stream_buffers *all, const int *fds,
                              size_t n);

/* Takes the frame `hello`, which describes the sender. */
void pfdd_stream_buffers_hello(struct pfdd_stream_buffers *all,
                               const struct pfd_wire_frame *f);

/* True: there is memory for the follower of a frame `buffer`, or for the bytes
 * of a frame `data`. */
bool pfdd_stream_buffers_have_room(struct pfdd_stream_buffers *all,
                                   const struct pfd_wire_frame *f);
/* True: there is none, because others have it. */
bool pfdd_stream_buffers_are_short(const struct pfdd_stream_buffers *all,
                                   const struct pfd_wire_frame *f);

/* Takes a frame `buffer`. False: not yet, `waiting_for` ends first. */
bool pfdd_stream_buffers_take(struct pfdd_stream_buffers *all,
                              const struct pfd_wire_frame *f);

/* Take frames `data` and `done`. */
void pfdd_stream_buffers_data(struct pfdd_stream_buffers *all,
                              const struct pfd_wire_frame *f);
void pfdd_stream_buffers_done(struct pfdd_stream_buffers *all,
                              const struct pfd_wire_frame *f);

/* Takes a frame `entries`. False: not yet. */
bool pfdd_stream_buffers_entries(struct pfdd_stream_buffers *all,
                                 const struct pfd_wire_frame *f);

/* Takes bytes of a stream without frames: all of it is one buffer. False: no
 * more can be taken. */
bool pfdd_stream_buffers_raw(struct pfdd_stream_buffers *all, const void *bytes,
                             size_t n);

/* Appends a gap record: of the buffer with that number if it is followed, else
 * of the stream. */
void pfdd_stream_buffers_gap(struct pfdd_stream_buffers *all,
                             const uint64_t *number, const char *reason,
                             uint64_t missed);

/* Appends a record for combined gaps, when it is time or at the end. */
void pfdd_stream_buffers_flush_gaps(struct pfdd_stream_buffers *all,
                                    bool at_end);

/* Numbers of buffers have another meaning from now on: present buffers emit the
 * rest, then end. */
void pfdd_stream_buffers_leave(struct pfdd_stream_buffers *all);

/* Pid of the sender; 0: unknown. */
long long pfdd_stream_buffers_pid(const struct pfdd_stream_buffers *all);

/* No follower is left. */
void pfdd_stream_buffers_deinit(struct pfdd_stream_buffers *all);

/*
 * An eventfd that a producer passed, and rings when it has written to a buffer.
 * However it is used, it can cause no more than a poll of that buffer. Loop
 * thread only.
 */

struct pfdd_doorbell;

/* Takes over fd; calls ring with user. NULL: not an eventfd, or out of memory;
 * fd is closed. */
struct pfdd_doorbell *pfdd_doorbell_hang(uv_loop_t *loop, int fd,
                                         void (*ring)(void *user), void *user);

/* ring is not called any more; the memory is freed with the handle. NULL is
 * allowed. */
void pfdd_doorbell_drop(struct pfdd_doorbell *bell);

#endif
