/* SPDX-License-Identifier: MIT */
/* Passes items of followed buffers to lines or a taker. */
#ifndef CLI_FOLLOW_ITEMS_H
#define CLI_FOLLOW_ITEMS_H

#include <printfdecode/lines.h>
#include <printfdecode/tail.h>

#include "core/output/consumer.h"
#include "follow_taker.h"
#include "followed_lines.h"
#include "input/checks.h"
#include "input/filter.h"
#include "input/input.h"
#include "options/options.h"
#include "show/collapsed_lines.h"
#include "show/perfetto_output.h"

struct pfd_entry_run;

/* A followed buffer; the user pointer of its tail's callbacks. */
struct follow_origin {
    struct follow_items *items;
    const char *name; /* the buffer's */
    uint64_t number;  /* index among the followed buffers */
    struct pfd_tail *tail;
};

enum {
    FOLLOW_UNKNOWN_MAX = 32, /* unknown ids that are reported */
};

struct follow_items {
    const struct options *o;          /* borrowed, like the following two */
    const struct inputs *in;          /* whose strings the entries have */
    const struct follow_taker *taker; /* NULL: lines are printed */
    struct pfd_lines *lines;
    struct followed_lines followed_lines;
    struct pfd_collapse *collapse; /* NULL: lines are not collapsed */
    struct pfd_trace *trace;       /* NULL: other outputs */
    struct checks *checks;  /* entries pass through them; NULL: they need not */
    struct pfd_watch watch; /* of the checks */
    struct filtering filtering;
    struct pfd_filter_run *filter;        /* NULL: all entries are wanted */
    uint64_t time;                        /* of the read pass, ns since 1970 */
    const struct follow_origin *placed;   /* origin of the last items, with
                                             its */
    uint64_t generation;                  /* generation; NULL: a new pass */
    const struct follow_origin *traced;   /* whose entries the trace and the
                                             checks get */
    uint64_t unknown[FOLLOW_UNKNOWN_MAX]; /* [n_unknown] ids that were
                                             reported */
    size_t n_unknown;
    bool is_repeated;    /* the entry's id was reported before */
    bool misses_strings; /* the lack of strings was reported */
    bool failed;         /* the taker failed */
    bool is_over;        /* the limit was reached, or the reader closed the
                            pipe */
};

/* Opens the output; is_live: items can come. False: an error was printed. */
bool follow_items_open(struct follow_items *items, bool is_live);
/* Closes the filter, and the output if it was opened. */
void follow_items_close(struct follow_items *items);

/* To be called when a read pass begins. */
void follow_items_look(struct follow_items *items, uint64_t time);
/* Writes all gathered lines. */
void follow_items_flush(struct follow_items *items);
/* Sets the filter up for the current strings. False: an error was printed. */
bool follow_items_renew(struct follow_items *items);

void follow_items_finding(struct follow_items *items,
                          const struct pfd_finding *finding);
/* Callbacks of tails; user: an origin. */
void follow_items_take(void *user, const struct pfd_tail_item *item);
void follow_items_take_run(void *user, const struct pfd_entry_run *entry_run,
                           uint64_t generation);
void follow_items_take_runs(void *user,
                            const struct pfd_entry_run *const *entry_runs,
                            size_t n, uint64_t generation);

#endif
