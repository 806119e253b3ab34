/* SPDX-License-Identifier: MIT */
/*
 * The entries and findings of buffers as a source of a view: where each one is,
 * in 12 bytes. Lines are decoded when they are wanted, again each time.
 */
#ifndef CLI_VIEW_ENTRY_INDEX_H
#define CLI_VIEW_ENTRY_INDEX_H

#include "input/input.h"
#include "source.h"

struct entry_index;

/* Reads all buffers once; options and inputs are borrowed. NULL: an error was
 * printed. memory_max: limit of bytes, about. */
struct entry_index *entry_index_new(const struct options *options,
                                    struct inputs *inputs, size_t memory_max);
/* NULL is allowed. */
void entry_index_free(struct entry_index *index);

/* A source for a view; of: the index. */
extern const struct view_source_class entry_index_class;

#endif
