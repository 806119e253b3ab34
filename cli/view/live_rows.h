/* SPDX-License-Identifier: MIT */
/*
 * Entries that come, as a source of a view: rows, as many as fit; then the older
 * half of them is dropped.
 */
#ifndef CLI_VIEW_LIVE_ROWS_H
#define CLI_VIEW_LIVE_ROWS_H

#include <printfdecode/printfdecode.h>

#include "source.h"

struct live_rows;

/* A chunk of entries; borrowed. */
struct live_chunk {
    const struct pfd_strings *strings;
    const struct pfd_options *options;
    const char *source;
    const void *bytes; /* [n] */
    size_t n;
    uint64_t sequence;
    uint64_t time;
};

/* poll: takes new entries, for view_source_class. NULL: out of memory. */
struct live_rows *live_rows_new(size_t bytes_max, bool (*poll)(void *user),
                                void *user);
/* NULL is allowed. */
void live_rows_free(struct live_rows *live);

/* False: out of memory. */
bool live_rows_take_chunk(struct live_rows *live,
                          const struct live_chunk *chunk);
/* Entries that are missing, and a word why. */
bool live_rows_take_gap(struct live_rows *live, uint64_t missed,
                        const char *why);

/* A source for a view; of: the rows. */
extern const struct view_source_class live_rows_class;

#endif
