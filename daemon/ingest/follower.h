/* SPDX-License-Identifier: MIT */
/*
 * One buffer that is followed: its bytes stand in a file (a mapped one, a
 * memfd, a finished dump) that is read and not mapped, but for its first page
 * (change_probe.h), so that somebody who cuts it short cannot hurt us, or in the memory
 * of a process. Looks are jobs on a worker (read_pass.h), one at a time;
 * lines go into the ring in the order of the buffer. A session dies alone.
 */
#ifndef PFDD_FOLLOWER_H
#define PFDD_FOLLOWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/follower_options.h"

struct pfd_wire_frame;
struct pfdd;
struct pfdd_follower;
struct pfdd_producer;

enum {
    PFDD_FOLLOWER_BYTES =
        1 << 20, /* to be asked for (memory_budget.h) before one, */
    /* and before one of ours that may stay for good: it leaves room for those
     * that come to their end, a folder's dumps, however many stay. */
    PFDD_FOLLOWER_STAYS_BYTES = 2 * PFDD_FOLLOWER_BYTES,
};

/* NULL: out of memory; fd is closed. */
struct pfdd_follower *pfdd_follower_new(
    struct pfdd *d, const struct pfdd_follower_options *options);

/* Something has happened: look soon. */
void pfdd_follower_ring(struct pfdd_follower *s);

/* Its shaders are others from now on; a reference is taken. */
void pfdd_follower_use(struct pfdd_follower *s, struct pfdd_producer *producer);

/* Another user hears of its end, and its memory is another holder's. */
void pfdd_follower_hand_over(struct pfdd_follower *s, void *user,
                             struct pfdd_resource_account *account);

/* No more bytes will come in this generation. */
void pfdd_follower_complete(struct pfdd_follower *s);

/* The bytes have been replaced: a new generation. */
void pfdd_follower_restart(struct pfdd_follower *s);

/* Bytes for a buffer that is kept here (a memfd). False: the system refused. */
bool pfdd_follower_write(struct pfdd_follower *s, uint64_t offset,
                         const void *bytes, size_t n);

/* Such a buffer has n bytes, of which those that did not come are zero. False:
 * likewise. */
bool pfdd_follower_extend(struct pfdd_follower *s, uint64_t n);

/* The time for lines from now on, ns since 1970; 0: when they come. */
void pfdd_follower_time(struct pfdd_follower *s, uint64_t time);

/* Gives what is left, then ends. */
void pfdd_follower_close(struct pfdd_follower *s);

/* A chunk of the buffer's entries, [n] bytes, that its sender has decoded. False:
 * the ring has no place for it now. *why: it is none that can be used. */
bool pfdd_follower_give(struct pfdd_follower *s, const struct pfd_wire_frame *f,
                        const char **why);

/* A gap record for this source. */
void pfdd_follower_gap(struct pfdd_follower *s, const char *reason,
                       uint64_t missed);

/* The poller's: looks if it is time; returns ms until the next time. */
unsigned pfdd_follower_poll(struct pfdd_follower *s, uint64_t now_ns);

/* What is known of it now. */
struct pfdd_follower_view {
    uint32_t source;
    uint64_t size;   /* bytes, at the last look */
    bool is_written; /* something has come of it */
    bool has_holes;  /* entries are reserved and not written */
    bool is_unread;  /* it cannot be read */
    bool waits;      /* for code objects that are on their way */
    bool is_trial;   /* nothing comes out of it */
};
void pfdd_follower_see(const struct pfdd_follower *s,
                       struct pfdd_follower_view *ret);

struct pfdd_follower *pfdd_follower_next(const struct pfdd_follower *s);
void pfdd_follower_unlink(struct pfdd_follower **list, struct pfdd_follower *s);

/* Turns the list so that this one is the first. */
void pfdd_followers_begin_with(struct pfdd *d, struct pfdd_follower *first);

/* New format strings are there. */
void pfdd_followers_wake(struct pfdd *d);
/* No time is left: end all without looking again. */
void pfdd_followers_abandon(struct pfdd *d);

#endif
