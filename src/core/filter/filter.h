/* SPDX-License-Identifier: MIT */
/* The filter's interface for the library's own loops: tests records before an
 * entry is made. */
#ifndef PFD_FILTER_H
#define PFD_FILTER_H

#include <printfdecode/filter.h>

#include "core/decode/format.h"

enum pfd_look_result {
    PFD_LOOK_NO,
    PFD_LOOK_YES,
    PFD_LOOK_ASK, /* make the entry, then pfd_filter_want() */
};

/* The decision by a record and its payload alone. */
enum pfd_look_result pfd_filter_test_record(struct pfd_filter_run *run,
                                            const struct pfd_record *record,
                                            const uint8_t *payload);

/*
 * The same for a batch: the first record from `from` on that is not certainly
 * a rejected entry, or batch->n. Adds the bytes of the entries before it to
 * *n_bytes. view, base: of pfd_record_batch_payload().
 */
size_t pfd_filter_skip(const struct pfd_filter_run *run,
                       const struct pfd_record_batch *batch, size_t from,
                       const struct pfd_byte_reader *view, uint64_t base,
                       uint64_t *n_bytes);

/* Pattern i that a message has to match; NULL: there is no i. */
const struct pfd_pattern *pfd_filter_pattern(const struct pfd_filter *filter,
                                             size_t i);

/* Bytes that it takes, about; NULL: none. */
size_t pfd_filter_memory(const struct pfd_filter *filter);

/* A name of the condition that was an argument of a tested entry, and is also a
 * member or origin of entries, which is entry.NAME. NULL: there was none.
 * Borrowed from the filter. */
const char *pfd_filter_shadow(const struct pfd_filter *filter);

enum {
    PFD_FILTER_ROOM_MIN = 32 * 1024, /* bytes of the least room of a run */
};

/*
 * Bytes that it may take from now on, beside itself: PFD_FILTER_ROOM_MIN at
 * least, or 0: no bound, as it begins. What of format strings has no room is
 * worked out anew for each entry; a pattern whose match has none gives up on the
 * message. What exceeds a lower room is freed.
 */
void pfd_filter_run_set_room(struct pfd_filter_run *run, size_t n);
/* Bytes that it takes of that; NULL: none. */
size_t pfd_filter_run_memory(const struct pfd_filter_run *run);

/* Can entries of string i of a set be selected, by id and text alone? */
bool pfd_filter_may_want(struct pfd_filter_run *run,
                         const struct pfd_strings *strings, size_t i);

#endif
