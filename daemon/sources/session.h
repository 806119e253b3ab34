/* SPDX-License-Identifier: MIT */
/*
 * One buffer that is followed: its bytes stand in a file (a mapped one, a
 * memfd, a finished dump) that is read and not mapped, but for its first page
 * (head.h), so that somebody who cuts it short cannot hurt us. Looks are jobs
 * on a worker, one at a time; lines go into the ring in the order of the
 * buffer. A session dies alone.
 */
#ifndef PFDD_SESSION_H
#define PFDD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>
#include <printfdecode/wire.h>

struct pfdd;
struct pfdd_session;
struct pfdd_kept;
struct pfdd_scope;
struct pfdd_sums;

struct pfdd_session_options {
    const char *name;   /* of the source (name.h); copied */
    const char *format; /* NULL: chosen; copied */
    struct pfd_options options;
    const struct pfd_wire_frame *origin; /* copied; NULL: nothing is known */
    struct pfdd_scope *scope;            /* of its shaders; a reference is
                                            taken; may be NULL */
    int fd;                              /* taken over */
    uint64_t settle_ms;
    bool arrives;              /* bytes come by pfd_session_write(), in order */
    bool is_trial;             /* nothing comes out, only `sums` */
    struct pfdd_sums *sums;    /* at the end, what became of it; may be NULL */
    bool complete;             /* nobody writes it any more */
    uint64_t generation;       /* of what comes first */
    bool resume;               /* skip what the queue has already */
    struct pfdd_kept *kept;    /* go on behind it, keep it up to date; borrowed
                                  until ended; may be NULL */
    void (*ended)(void *user); /* the session is gone; may be NULL */
    void *user;
};

/* NULL: out of memory; fd is closed. */
struct pfdd_session *pfdd_session_new(
    struct pfdd *d, const struct pfdd_session_options *options);

/* Something has happened: look soon. */
void pfdd_session_ring(struct pfdd_session *s);

/* Its shaders are others from now on; a reference is taken. */
void pfdd_session_use(struct pfdd_session *s, struct pfdd_scope *scope);

/* Another user hears of its end. */
void pfdd_session_hand_over(struct pfdd_session *s, void *user);

/* No more bytes will come in this generation. */
void pfdd_session_complete(struct pfdd_session *s);

/* The bytes have been replaced: a new generation. */
void pfdd_session_restart(struct pfdd_session *s);

/* Bytes for a buffer that is kept here (a memfd). False: the system refused. */
bool pfdd_session_write(struct pfdd_session *s, uint64_t offset,
                        const void *bytes, size_t n);

/* The time for lines from now on, ns since 1970; 0: when they come. */
void pfdd_session_time(struct pfdd_session *s, uint64_t time);

/* Gives what is left, then ends. */
void pfdd_session_close(struct pfdd_session *s);

/* A gap record for this source. */
void pfdd_session_gap(struct pfdd_session *s, const char *reason,
                      uint64_t missed);

/* The poller's: looks if it is time; returns ms until the next time. */
unsigned pfdd_session_poll(struct pfdd_session *s, uint64_t now_ns);

struct pfdd_session *pfdd_session_next(const struct pfdd_session *s);
void pfdd_session_unlink(struct pfdd_session **list, struct pfdd_session *s);

/* Turns the list so that this one is the first. */
void pfdd_sessions_begin_with(struct pfdd *d, struct pfdd_session *first);

/* New format strings are there. */
void pfdd_sessions_wake(struct pfdd *d);
/* No time is left: end all without looking again. */
void pfdd_sessions_abandon(struct pfdd *d);

#endif
