/* SPDX-License-Identifier: MIT */
/*
 * Entries that a daemon sends, as they come: counted, and written in the form
 * that is wanted, or handed over to who makes something else of them. The daemon has
 * chosen them, unless that is done here; it need not know how many are wanted,
 * nor what counts for the exit status.
 */
#ifndef CLI_FOLLOW_ENTRIES_H
#define CLI_FOLLOW_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/lines.h>
#include <printfdecode/subscriber.h>
#include <printfdecode/trace.h>

#include "follow.h"
#include "input/filter.h"
#include "net/connection.h"

struct follow_entries {
    const struct options *o;
    struct pfd_subscriber *subscriber;
    const struct follow_taker *taker; /* NULL: they are written */
    struct pfd_trace *trace;          /* NULL: they are no trace */
    uint64_t traced;                  /* the buffer whose entries come */
    struct pfd_lines *lines;
    struct pfd_lines *beside;    /* of a taker or a trace, what is no entry: for
                                 standard error; else NULL */
    struct filtering *filtering; /* NULL: who sends them has chosen */
    struct pfd_filter *shown;    /* whose matches have a colour, or NULL */
    struct pfd_collapse *collapse; /* NULL: each line stands for itself */
    uint64_t collapsed_ns;         /* when all runs were ended */
    bool is_json;
    bool is_raw;
    uint64_t from;      /* sequence number of the first that is wanted, or 0 */
    uint64_t n_entries; /* that were written */
    uint64_t last;    /* sequence number of the last item of those that came */
    uint64_t written; /* likewise, of those that have left this process */
    bool is_closed;   /* the output: what came last may not be written */
    bool has_failed;  /* the taker, or the trace: that was said */
    bool is_doubtful; /* something came that counts for the exit status */
    char why[300];
};

/* taker: NULL for lines. False: out of memory, or there is no such form, which
 * was said. */
bool follow_entries_init(struct follow_entries *ret, const struct options *o,
                         const struct follow_taker *taker);
void follow_entries_deinit(struct follow_entries *entries);

/* OUTCOME_STOPPED: no more are wanted; OUTCOME_FAILED: `why` says why. */
enum outcome follow_entries_take(struct follow_entries *entries,
                                 const char *bytes, size_t n);

/* At the end of the connection: likewise. */
enum outcome follow_entries_end(struct follow_entries *entries);

/* Writes what waits to be collapsed, at the end or when it has waited for long
 * enough; a taker has its turn, and a trace its end. False: is_closed. */
bool follow_entries_pause(struct follow_entries *entries, bool is_end);

#endif
