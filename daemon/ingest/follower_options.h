/* SPDX-License-Identifier: MIT */
/* Which buffer a follower (follower.h) follows, and how. */
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
    const struct pfd_wire_frame *origin; /* copied; NULL: unknown */
    struct pfdd_producer *producer;      /* of its shaders; a reference is
                                            taken; may be NULL */
    int fd;                              /* taken over */
    struct pfd_source *memory; /* of a process, instead of fd; borrowed until
                                  ended. When the process ends, the follower
                                  ends with a gap. May be NULL */
    uint64_t n_memory;         /* bytes of it */
    struct pfdd_resource_account
        *account; /* charged with its memory; borrowed until ended; NULL:
                     none */
    uint64_t settle_ms;
    bool arrives;  /* bytes come by pfdd_follower_write(), in order */
    bool is_trial; /* emits nothing, only counts */
    struct pfdd_buffer_stats
        *buffer_stats;   /* filled in at the end; may be NULL */
    bool complete;       /* it is not written any more */
    uint64_t generation; /* of the first entries */
    bool resume;         /* skip entries that the spool already has */
    struct pfdd_saved_position
        *saved_position;       /* resume after it, keep it up to date; borrowed
                                  until ended; may be NULL */
    void (*ended)(void *user); /* the follower is gone; may be NULL */
    void *user;
};

#endif
