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
 * *n_bytes. view, base: of pfd_batch_payload().
 */
size_t pfd_filter_skip(const struct pfd_filter_run *run,
                       const struct pfd_batch *batch, size_t from,
                       const struct pfd_byte_reader *view, uint64_t base,
                       uint64_t *n_bytes);

/* Pattern i that a message has to match; NULL: there is no i. */
const struct pfd_pattern *pfd_filter_pattern(const struct pfd_filter *filter,
                                             size_t i);

/* Is a buffer of this name wanted at all? */
bool pfd_filter_want_source(const struct pfd_filter *filter,
                            const char *source);

#endif
