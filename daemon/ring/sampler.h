/* SPDX-License-Identifier: MIT */
/*
 * Limits entries to a rate per second. Left-out entries are spread evenly and
 * counted, as are items that a filter leaves out. Entries with findings are
 * left out last. Entries from before `limited_from` pass without a charge. For viewers that could not read more anyway. One thread at a
 * time.
 */
#ifndef PFDD_SAMPLER_H
#define PFDD_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/capture.h>

#include "ring/left_out.h"

/* All zeros: no item came yet. */
struct pfdd_sampler {
    uint64_t limited_from; /* sequence number of the first limited entry */
    bool passes;           /* the current item is below it */
    uint64_t counted;      /* items below this number have been counted */
    struct pfdd_left_out filtered;
    struct pfdd_left_out sampled;
    struct pfdd_left_out said; /* the sum of both in the last record */
    uint64_t filled_ns;        /* time up to which the following were earned */
    double spare;              /* entries that may still pass */
    double spare_found;        /* likewise, entries with findings */
    double share;              /* of an item of the current block */
    double due;                /* earned by the items so far */
};

/* Begins n items from a number on, perhaps again. rate: entries per second. */
void pfdd_sampler_begin(struct pfdd_sampler *s, uint32_t rate, uint64_t first,
                        uint64_t n, uint64_t now_ns);
void pfdd_sampler_end(struct pfdd_sampler *s);

/* Registers an item. An item that has been counted is not counted again. True:
 * it is new. */
bool pfdd_sampler_item(struct pfdd_sampler *s, uint64_t seq);

/* True: an entry with these findings may pass, and is charged to the rate. */
bool pfdd_sampler_takes(struct pfdd_sampler *s, uint64_t findings);

/* Writes the record of all left-out items so far; see pfdd_left_out_print().
 * Returns its length; 0: nothing has changed since the last record. */
size_t pfdd_sampler_record(struct pfdd_sampler *s,
                           const struct pfd_filter *filter,
                           const struct pfd_strings *strings,
                           char ret[PFDD_LEFT_OUT_RECORD]);

/* Counts an item that was filtered out. NULL is allowed. */
void pfdd_sampler_filter_out(struct pfdd_sampler *sampler,
                             const struct pfd_chunk_item *item);

#endif
