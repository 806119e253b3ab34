/* SPDX-License-Identifier: MIT */
/*
 * A page of /metrics or /state: what is known is noted on the loop, a worker
 * writes it, and all who asked before it was noted read the same one. Its bytes
 * are asked for first, as are those of other pages that somebody has. Loop
 * thread only, but for the job.
 */
#ifndef PFDD_METRICS_H
#define PFDD_METRICS_H

#include "base/job_pool.h"
#include "daemon.h"

struct pfdd_metrics {
    struct pfdd_job job; /* `run` is set; `done` is the owner's */
    void *user;          /* the owner's */
    unsigned refs;
    bool is_state;
    struct pfdd_reader_quota
        *reader_quota; /* whose bytes it takes, a reference */
    size_t n_held;     /* of them */
    char *text;        /* [n], once it is made; NULL: no memory */
    size_t n;
    /* What was noted: all but the series of sources, and these. */
    char *rest; /* [n_rest] */
    size_t n_rest;
    struct pfdd_metrics_row {
        struct pfdd_source_counts counts;
        const char *name; /* in names */
    } * rows;             /* [n_rows] */
    size_t n_rows;
    char *names;
    struct pfdd_source_counts others;
    struct pfdd_state *state; /* of /state: all */
};

/* Notes all of /state (is_state), else of /metrics, with one reference. NULL: there is no memory, or no more of the
 * quota, to which it takes a reference. */
struct pfdd_metrics *pfdd_metrics_new(const struct pfdd *d,
                                      struct pfdd_reader_quota *reader_quota,
                                      bool is_state);
/* A page of text [n], allocated, which it takes; with one reference. NULL: there
 * is no room, and the text stays. */
struct pfdd_metrics *pfdd_metrics_of(struct pfdd_reader_quota *reader_quota,
                                     char *text, size_t n);
/* When it has been made: takes what it has, no more. */
void pfdd_metrics_settle(struct pfdd_metrics *metrics);
/* NULL is allowed. */
void pfdd_metrics_unref(struct pfdd_metrics *metrics);

#endif
