/* SPDX-License-Identifier: MIT */
/* What a daemon sends, for a view. */
#ifndef CLI_VIEW_LIVE_ENTRIES_H
#define CLI_VIEW_LIVE_ENTRIES_H

#include "options/options.h"
#include "source.h"

struct live_entries;

/* Connects to the daemon that the options name and asks for what they choose.
 * NULL: an error was printed. memory_max: limit of bytes, about. */
struct live_entries *live_entries_new(const struct options *options,
                                      size_t memory_max);
/* NULL is allowed. */
void live_entries_free(struct live_entries *live);

/* Why no more comes; "": it goes on. */
const char *live_entries_why(const struct live_entries *live);

/* A source for a view. */
struct view_source live_entries_source(const struct live_entries *live);

#endif
