/* SPDX-License-Identifier: MIT */
/*
 * Handles entries that a daemon sends: counts them, and writes them as the
 * output requires or passes them to a taker. The daemon filters, unless
 * `filtering` is set; the limit and the exit status are decided here.
 */
#ifndef CLI_FOLLOW_ENTRIES_H
#define CLI_FOLLOW_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/lines.h>
#include <printfdecode/subscriber.h>

#include "analysis/trace/trace.h"
#include "follow_taker.h"
#include "input/checks.h"
#include "input/filter.h"
#include "net/connection.h"

struct follow_entries {
    const struct options *o;
    struct pfd_subscriber *subscriber;
    const struct follow_taker *taker; /* NULL: entries are written */
    struct checks *checks;            /* get losses; NULL: nothing is checked */
    bool checks_rows;                 /* entries pass through them, too */
    struct pfd_trace *trace;          /* NULL: other outputs */
    uint64_t traced;                  /* number of the buffer whose entries the
                                         trace gets */
    struct pfd_lines *lines;
    struct pfd_lines *beside; /* of a taker or a trace: findings and gaps, for
                                 standard error; else NULL */
    struct filtering *filtering;   /* NULL: the sender filters */
    struct pfd_filter *shown;      /* whose matches have a colour, or NULL */
    struct pfd_collapse *collapse; /* NULL: each line stands for itself */
    struct recording *recording;   /* gets all entries, or NULL */
    struct last_lines *tail; /* of the last entries; NULL: all are written */
    uint64_t collapsed_ns;   /* when all runs were ended */
    bool is_json;
    bool is_raw;
    uint64_t from;      /* sequence number of the first wanted item, or 0 */
    uint64_t n_entries; /* entries that were written or taken */
    uint64_t last;      /* sequence number of the last received item */
    uint64_t written;   /* of the last item that was written out */
    bool is_closed;     /* the output is closed: the last items may be lost */
    bool has_failed;  /* the taker or the trace failed; an error was printed */
    bool is_doubtful; /* a finding or gap was received that affects the exit
                         status */
    char why[300];
};

/* taker: NULL for lines; checks: borrowed, or NULL. False: out of memory, or no such output; an error was
 * printed. */
bool follow_entries_init(struct follow_entries *ret, const struct options *o,
                         const struct follow_taker *taker,
                         struct checks *checks);
void follow_entries_deinit(struct follow_entries *entries);

/* Takes received bytes. OUTCOME_STOPPED: no more are wanted; OUTCOME_FAILED:
 * `why` holds the error. */
enum outcome follow_entries_take(struct follow_entries *entries,
                                 const char *bytes, size_t n);

/* Takes the end of the connection; returns like follow_entries_take(). */
enum outcome follow_entries_end(struct follow_entries *entries);

/* Writes collapsed lines, at the end or after COLLAPSING_MS; calls the taker's
 * turn(), and ends the trace at the end. False: is_closed. */
bool follow_entries_pause(struct follow_entries *entries, bool is_end);

#endif
