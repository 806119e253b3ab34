/* SPDX-License-Identifier: MIT */
/* What comes of buffers that are followed, on its way to lines or a taker. */
#ifndef CLI_FOLLOW_ITEMS_H
#define CLI_FOLLOW_ITEMS_H

#include <printfdecode/lines.h>
#include <printfdecode/tail.h>

#include "follow.h"
#include "followed_lines.h"
#include "input/filter.h"
#include "input/input.h"
#include "options.h"
#include "show/collapsed_lines.h"
#include "show/perfetto_output.h"

/* A buffer that items come of: the user of its tail's callbacks. */
struct follow_origin {
    struct follow_items *items;
    const char *name; /* the buffer's */
    uint64_t number;  /* of the buffers that are followed */
    struct pfd_tail *tail;
};

enum {
    FOLLOW_UNKNOWN_MAX = 32, /* ids that no string has, and that are told */
};

struct follow_items {
    const struct options *o;          /* borrowed, as are: */
    const struct inputs *in;          /* whose strings they have */
    const struct follow_taker *taker; /* NULL: lines are printed */
    struct pfd_lines *lines;
    struct followed_lines followed_lines;
    struct pfd_collapse *collapse; /* NULL: each line stands for itself */
    struct pfd_trace *trace;       /* NULL: they are no trace */
    struct filtering filtering;
    struct pfd_filter_run *filter;        /* NULL: all are wanted */
    uint64_t time;                        /* of the look, ns since 1970 */
    const struct follow_origin *placed;   /* whose items come, of this */
    uint64_t generation;                  /* generation; NULL: of a new look */
    const struct follow_origin *traced;   /* whose entries come */
    uint64_t unknown[FOLLOW_UNKNOWN_MAX]; /* [n_unknown] ids that were told */
    size_t n_unknown;
    bool is_repeated;    /* the entry's id was told before */
    bool misses_strings; /* there are none: that was said */
    bool failed;         /* a taker has said so */
    bool is_over;        /* the limit, or a reader that went away */
};

/* Where they go; is_live: some will come. False: what is wrong was said. */
bool follow_items_open(struct follow_items *items, bool is_live);
/* What was opened, if anything, and the filter. */
void follow_items_close(struct follow_items *items);

/* A new look has begun. */
void follow_items_look(struct follow_items *items, uint64_t time);
/* All lines that there are go out. */
void follow_items_flush(struct follow_items *items);
/* There are other strings: the filter is for these. False: it was said. */
bool follow_items_renew(struct follow_items *items);

void follow_items_finding(struct follow_items *items,
                          const struct pfd_finding *finding);
/* Of tails; user: an origin. */
void follow_items_take(void *user, const struct pfd_tail_item *item);
void follow_items_take_run(void *user, const struct pfd_entry_run *entry_run,
                           uint64_t generation);
void follow_items_take_runs(void *user,
                            const struct pfd_entry_run *const *entry_runs,
                            size_t n, uint64_t generation);

#endif
