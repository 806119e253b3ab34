/* SPDX-License-Identifier: MIT */
/* A copy of a run's records and bytes, for later use or another thread. The
 * strings are still borrowed. */
#ifndef PFD_ENTRY_RUN_COPY_H
#define PFD_ENTRY_RUN_COPY_H

#include "core/decode/entry_run.h"

/* All zero is an empty copy. */
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
