/* SPDX-License-Identifier: MIT */
/*
 * A page of /metrics or /state: its facts are collected on the loop, a worker
 * writes it, and all clients that asked before that read the same one. Its
 * bytes are reserved first, as are bytes of older pages that clients still
 * read. Loop thread only, but for the job.
 */
#ifndef PFDD_METRICS_H
#define PFDD_METRICS_H

#include "base/job_pool.h"
#include "outputs/delivery.h"

struct pfdd_metrics {
    struct pfdd_job job; /* `run` is set; the owner sets `done` */
    void *user;          /* of the owner */
    unsigned refs;
    bool is_state;
    struct pfdd_resource_account account; /* charged for its memory */
    char *text; /* [n], once rendered; NULL: out of memory */
    size_t n;
    /* The snapshot: all but the series of sources, and these as rows. */
    char *rest; /* [n_rest] */
    size_t n_rest;
    struct pfdd_metrics_row {
        struct pfdd_source_counts counts;
        const char *name; /* within `names`, likewise: */
        const char *host; /* "": this machine, or not known */
    } * rows;             /* [n_rows] */
    size_t n_rows;
    char *names;
    struct pfdd_source_counts others;
    struct pfdd_state *state; /* of /state: all */
};

/* Takes a snapshot of /state (is_state) or of /metrics, with one reference, for
 * a user, who is charged for it. NULL: out of memory, or the user may not have
 * it. */
struct pfdd_metrics *pfdd_metrics_new(struct pfdd_delivery *delivery,
                                      const struct pfdd_peer_key *key,
                                      bool is_state);
/* A page of text [n], allocated, which it takes; with one reference. NULL:
 * there is no room, and the text stays. */
struct pfdd_metrics *pfdd_metrics_of(struct pfdd_delivery *delivery,
                                     const struct pfdd_peer_key *key,
                                     char *text, size_t n);
/* When it has been made: takes what it has, no more. */
void pfdd_metrics_finish(struct pfdd_metrics *metrics);
/* NULL is allowed. */
void pfdd_metrics_unref(struct pfdd_metrics *metrics);

#endif
