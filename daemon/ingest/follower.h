/* SPDX-License-Identifier: MIT */
/*
 * Follows one buffer, whose bytes are in a file (mapped by its producer, a
 * memfd, a finished dump) or in the memory of a process. A file is read and not
 * mapped, except for its first page (change_probe.h), so that truncating it
 * cannot crash the daemon. Read passes are jobs on a worker (read_pass.h), one
 * at a time; entries go into the ring in the order of the buffer. A follower
 * that fails ends alone.
 */
#ifndef PFDD_FOLLOWER_H
#define PFDD_FOLLOWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/read_pass.h"

struct pfd_wire_frame;
struct pfdd_ingest;
struct pfdd_follower;
struct pfdd_producer;

enum {
    PFDD_FOLLOWER_BYTES = 1 << 20, /* requested (memory_budget.h) for each */
    /* Requested for a follower of our own inputs that may stay for good: it
     * leaves memory for followers that end, such as those of a folder's
     * dumps. */
    PFDD_FOLLOWER_STAYS_BYTES = 2 * PFDD_FOLLOWER_BYTES,
};

/* NULL: out of memory; fd is closed. */
struct pfdd_follower *pfdd_follower_new(
    struct pfdd_ingest *ingest, const struct pfdd_follower_options *options);

/* Something has happened: poll soon. */
void pfdd_follower_ring(struct pfdd_follower *s);

/* Uses this producer's shaders from now on; takes a reference. */
void pfdd_follower_use(struct pfdd_follower *s, struct pfdd_producer *producer);

/* Calls `ended` with another user, and charges its memory to another
 * account. */
void pfdd_follower_hand_over(struct pfdd_follower *s, void *user,
                             struct pfdd_resource_account *account);

/* No more bytes will come in this generation. */
void pfdd_follower_complete(struct pfdd_follower *s);

/* The bytes have been replaced: a new generation. */
void pfdd_follower_restart(struct pfdd_follower *s);

/* Writes bytes of a buffer in our own memfd. False: the system refused. */
bool pfdd_follower_write(struct pfdd_follower *s, uint64_t offset,
                         const void *bytes, size_t n);

/* Extends such a buffer to n bytes; bytes that did not come are zero. False:
 * likewise. */
bool pfdd_follower_extend(struct pfdd_follower *s, uint64_t n);

/* The time of entries from now on, ns since 1970; 0: when they come. */
void pfdd_follower_time(struct pfdd_follower *s, uint64_t time);

/* Emits the rest, then ends. */
void pfdd_follower_close(struct pfdd_follower *s);

/* Appends the chunk of an `entries` frame, which its sender has decoded. False:
 * not now, because the ring is full or strings are being read. *why: NULL, or
 * why the chunk cannot be used. */
bool pfdd_follower_append_chunk(struct pfdd_follower *s,
                                const struct pfd_wire_frame *f,
                                const char **why);

/* Appends a gap record for this source. */
void pfdd_follower_gap(struct pfdd_follower *s, const char *reason,
                       uint64_t missed);

/* The present state of a follower. */
struct pfdd_follower_view {
    uint32_t source;
    uint64_t size;   /* bytes, at the last read pass */
    bool is_written; /* entries or errors have come of it */
    bool has_holes;  /* entries are reserved but not written */
    bool is_unread;  /* it cannot be read */
    bool waits;      /* for code objects that are being read */
    bool is_trial;   /* it emits nothing */
};
void pfdd_follower_see(const struct pfdd_follower *s,
                       struct pfdd_follower_view *ret);

struct pfdd_follower *pfdd_follower_next(const struct pfdd_follower *s);

/* For the poller (poller.h); user: the ingest. Begins the read passes for which
 * it is time. */
unsigned pfdd_followers_poll(void *user);

/* New format strings have come: wakes followers that wait for them. */
void pfdd_followers_wake(struct pfdd_ingest *ingest);
/* No time is left: ends all followers without another read pass. */
void pfdd_followers_abandon(struct pfdd_ingest *ingest);

#endif
