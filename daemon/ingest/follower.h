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
struct pfdd_session;
struct pfdd_scope;

enum {
    PFDD_SESSION_BYTES =
        1 << 20, /* to be asked for (memory_budget.h) before one, */
    /* and before one of ours that may stay for good: it leaves room for those
     * that come to their end, a folder's dumps, however many stay. */
    PFDD_SESSION_STAYS_BYTES = 2 * PFDD_SESSION_BYTES,
};

/* NULL: out of memory; fd is closed. */
struct pfdd_session *pfdd_session_new(
    struct pfdd *d, const struct pfdd_session_options *options);

/* Something has happened: look soon. */
void pfdd_session_ring(struct pfdd_session *s);

/* Its shaders are others from now on; a reference is taken. */
void pfdd_session_use(struct pfdd_session *s, struct pfdd_scope *scope);

/* Another user hears of its end, and its memory is another holder's. */
void pfdd_session_hand_over(struct pfdd_session *s, void *user,
                            struct pfdd_resource_account *account);

/* No more bytes will come in this generation. */
void pfdd_session_complete(struct pfdd_session *s);

/* The bytes have been replaced: a new generation. */
void pfdd_session_restart(struct pfdd_session *s);

/* Bytes for a buffer that is kept here (a memfd). False: the system refused. */
bool pfdd_session_write(struct pfdd_session *s, uint64_t offset,
                        const void *bytes, size_t n);

/* Such a buffer has n bytes, of which those that did not come are zero. False:
 * likewise. */
bool pfdd_session_extend(struct pfdd_session *s, uint64_t n);

/* The time for lines from now on, ns since 1970; 0: when they come. */
void pfdd_session_time(struct pfdd_session *s, uint64_t time);

/* Gives what is left, then ends. */
void pfdd_session_close(struct pfdd_session *s);

/* A chunk of the buffer's entries, [n] bytes, that its sender has decoded. False:
 * the ring has no place for it now. *why: it is none that can be used. */
bool pfdd_session_give(struct pfdd_session *s, const struct pfd_wire_frame *f,
                       const char **why);

/* A gap record for this source. */
void pfdd_session_gap(struct pfdd_session *s, const char *reason,
                      uint64_t missed);

/* The poller's: looks if it is time; returns ms until the next time. */
unsigned pfdd_session_poll(struct pfdd_session *s, uint64_t now_ns);

/* What is known of it now. */
struct pfdd_session_view {
    uint32_t source;
    uint64_t size;   /* bytes, at the last look */
    bool is_written; /* something has come of it */
    bool has_holes;  /* entries are reserved and not written */
    bool is_unread;  /* it cannot be read */
    bool waits;      /* for code objects that are on their way */
    bool is_trial;   /* nothing comes out of it */
};
void pfdd_session_see(const struct pfdd_session *s,
                      struct pfdd_session_view *ret);

struct pfdd_session *pfdd_session_next(const struct pfdd_session *s);
void pfdd_session_unlink(struct pfdd_session **list, struct pfdd_session *s);

/* Turns the list so that this one is the first. */
void pfdd_sessions_begin_with(struct pfdd *d, struct pfdd_session *first);

/* New format strings are there. */
void pfdd_sessions_wake(struct pfdd *d);
/* No time is left: end all without looking again. */
void pfdd_sessions_abandon(struct pfdd *d);

#endif
