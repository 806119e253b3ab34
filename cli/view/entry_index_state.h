/* SPDX-License-Identifier: MIT */
/* Internals: an index of entries. */
#ifndef CLI_VIEW_ENTRY_INDEX_STATE_H
#define CLI_VIEW_ENTRY_INDEX_STATE_H

#include <printfdecode/convert.h>

#include "input/input.h"
#include "source.h"
#include "string_list.h"

/* Of entry_index.strings: the number of a format string, or, with ENTRY_LINE,
 * of a line. */
#define ENTRY_FINDING (UINT32_C(1) << 31) /* it has a finding */
#define ENTRY_LINE    (UINT32_C(1) << 30) /* it is a finding between entries */
#define ENTRY_NUMBER  (ENTRY_LINE - 1)

struct entry_index {
    const struct options *o;
    struct inputs *in;
    size_t n_max;      /* items that fit */
    uint64_t *indexes; /* [n] of [room], owned: in their buffers; of lines,
                          that of the entry before */
    uint32_t *strings; /* [n], likewise */
    size_t n;
    size_t room;
    size_t *first; /* [in->n_buffers + 1]: the first item of each; owned */
    uint64_t n_left_out;
    bool shows_origins;
    struct string_list names;
    struct pfd_text lines;     /* of findings between entries, */
    struct pfd_text line_ends; /* and where each ends, size_t */
    bool failed;
};

/* What converts entries of the index as it was made. */
struct pfd_convert entry_index_convert(const struct entry_index *index);

/* The buffer that an item is of. */
size_t entry_index_buffer(const struct entry_index *index, uint32_t item);

/* The line of a finding between entries, [*n]. */
const char *entry_index_line(const struct entry_index *index, uint32_t item,
                             size_t *n);

/* entry_fetch.c */
void entry_index_lines(void *index, const uint32_t *items, size_t n,
                       view_line_fn take, void *user);
void entry_index_details(void *index, uint32_t item, view_line_fn take,
                         void *user);

/* entry_search.c */
enum view_outcome entry_index_filter(void *index,
                                     const struct view_filter *filter,
                                     view_stop_fn stop, void *user,
                                     struct view_items *ret, char *err,
                                     size_t n_err);
enum view_outcome entry_index_collapse(void *index,
                                       const struct view_filter *filter,
                                       view_stop_fn stop, void *stop_user,
                                       view_line_fn take, void *user, char *err,
                                       size_t n_err);

#endif
