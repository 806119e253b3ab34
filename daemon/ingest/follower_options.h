/* SPDX-License-Identifier: MIT */
/* What a session (follower.h) is to follow, and how. */
#ifndef PFDD_FOLLOWER_OPTIONS_H
#define PFDD_FOLLOWER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>
#include <printfdecode/wire.h>

struct pfd_source;
struct pfdd_resource_account;
struct pfdd_saved_position;
struct pfdd_producer;
struct pfdd_buffer_stats;

struct pfdd_follower_options {
    const char *name;   /* of the source (name.h); copied */
    const char *format; /* NULL: chosen; copied */
    struct pfd_options options;
    const struct pfd_wire_frame *origin; /* copied; NULL: nothing is known */
    struct pfdd_producer *producer;      /* of its shaders; a reference is
                                            taken; may be NULL */
    int fd;                              /* taken over */
    struct pfd_source *memory; /* of a process, in the place of fd: borrowed
                                  until ended; when the process ends, so does
                                  the session, with a gap. Or NULL */
    uint64_t n_memory;         /* bytes of it */
    struct pfdd_resource_account
        *account; /* whose memory it takes; borrowed until ended;
                                   NULL: nobody counts */
    uint64_t settle_ms;
    bool arrives;  /* bytes come by pfd_session_write(), in order */
    bool is_trial; /* nothing comes out, only `sums` */
    struct pfdd_buffer_stats
        *buffer_stats;   /* at the end, what became of it; may be NULL */
    bool complete;       /* nobody writes it any more */
    uint64_t generation; /* of what comes first */
    bool resume;         /* skip what the queue has already */
    struct pfdd_saved_position
        *saved_position;       /* go on behind it, keep it up to date; borrowed
                                  until ended; may be NULL */
    void (*ended)(void *user); /* the session is gone; may be NULL */
    void *user;
};

#endif
