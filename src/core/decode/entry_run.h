/* SPDX-License-Identifier: MIT */
/*
 * Runs: consecutive entries of one buffer, each right behind the one before,
 * with known strings and without findings. Nearly all entries are in runs;
 * taking them together costs less for each.
 *
 * A run is borrowed until the call that passed it returns; one thread at a
 * time.
 */
#ifndef PFD_ENTRY_RUN_H
#define PFD_ENTRY_RUN_H

#include <printfdecode/printfdecode.h>

#include "core/decode/entry.h"

struct pfd_entry_run {
    struct pfd_entry_source *of;
    const struct pfd_record *records; /* [n], none of them special, in the
                                         order of their places */
    size_t n;
    const uint8_t *bytes; /* of all records */
    uint64_t index;       /* of the first */
};

static inline const uint8_t *pfd_entry_run_payload(
    const struct pfd_entry_run *entry_run, const struct pfd_record *r)
{
    return entry_run->bytes + (r->offset - entry_run->records[0].offset) +
           r->n_header;
}

/* The rest of the run behind its first n entries. */
static inline struct pfd_entry_run pfd_entry_run_from(
    const struct pfd_entry_run *entry_run, size_t n)
{
    struct pfd_entry_run ret = *entry_run;
    ret.n -= n;
    if (ret.n) {
        ret.records += n;
        ret.bytes += ret.records->offset - entry_run->records->offset;
        ret.index += n;
    }
    return ret;
}

/* Can the record be part of a run? */
static inline bool pfd_entry_run_takes(const struct pfd_record *r)
{
    uint64_t odd = r->findings | r->layout | r->n_alternatives |
                   (r->flags & ~(unsigned)PFD_RECORD_SURE);
    return r->kind == PFD_RECORD_ENTRY && r->string &&
           !(odd | r->string->findings);
}

/* How many entries: one at least. */
size_t pfd_entry_run_count(const struct pfd_entry_run *entry_run);

/* Bytes of the buffer that they occupy. */
uint64_t pfd_entry_run_bytes(const struct pfd_entry_run *entry_run);

/* Entry i of the run, below pfd_entry_run_count(); lives as long as the run. */
void pfd_entry_run_entry(const struct pfd_entry_run *entry_run, size_t i,
                         struct pfd_entry *ret);

/* A copy of a run's records and bytes, for later use or another thread; the
 * strings are still borrowed. All zero is an empty copy. */
struct pfd_entry_run_copy {
    const struct pfd_format *format;
    struct pfd_text records; /* struct pfd_record, one after another */
    struct pfd_text bytes;
    uint64_t index; /* of the first */
};

/* Replaces the content by entries [from, to) of the run. False: out of
 * memory. */
bool pfd_entry_run_copy_take(struct pfd_entry_run_copy *copy,
                             const struct pfd_entry_run *entry_run, size_t from,
                             size_t to);

/* The copied run, borrowed; of: of the same format and strings. */
struct pfd_entry_run pfd_entry_run_copy_view(
    const struct pfd_entry_run_copy *copy, struct pfd_entry_source *of);

void pfd_entry_run_copy_deinit(struct pfd_entry_run_copy *copy);

#endif
