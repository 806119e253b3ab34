/* SPDX-License-Identifier: MIT */
/* What a conversion gives its entries to, and has them judged by. */
#ifndef PFD_CONSUMER_H
#define PFD_CONSUMER_H

#include <stdbool.h>
#include <stddef.h>

struct pfd_filter;
struct pfd_filter_run;
struct pfd_points;
struct pfd_sink;

enum {
    PFD_WATCHES = 2 /* filters that entries are tested by on their way */
};

/* Judges entries that become rows, without choosing among them. Each run is
 * NULL, or of the thread that makes the rows. */
struct pfd_watch {
    struct pfd_filter_run *runs[PFD_WATCHES];
};

/*
 * Takes entries of a conversion in place of lines, such as a table or a plot.
 * Workers render them to bytes by `sink`, several at once; these come to take(),
 * one call at a time, in the order of the buffer.
 */
struct pfd_consumer {
    const struct pfd_sink *sink; /* &pfd_sink_rows or &pfd_sink_points */
    bool pieces;                 /* rows have the message and its pieces */
    bool watches; /* rows have severity, and watched by these filters, each of
                     which may be NULL */
    const struct pfd_filter *watch[PFD_WATCHES];
    const struct pfd_points *points; /* of points: those that are wanted */
    /* [n] bytes of the sink; false: it wants no more. */
    bool (*take)(void *user, const void *bytes, size_t n);
    void *user;
};

#endif
