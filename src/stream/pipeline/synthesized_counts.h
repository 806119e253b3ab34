/* SPDX-License-Identifier: MIT */
/* Counts the entries and bytes of format strings that come in the buffer, by
 * their ids and texts; for one thread. A buffer can bring any number of
 * strings: the ones beyond the limit are counted as one. */
#ifndef PFD_SYNTHESIZED_COUNTS_H
#define PFD_SYNTHESIZED_COUNTS_H

#include <printfdecode/convert.h>

#include "core/base/dictionary.h"

enum {
    PFD_SYNTHESIZED_COUNTS_MAX = 1 << 16,    /* strings */
    PFD_SYNTHESIZED_COUNTS_BYTES = 16 << 20, /* of their texts */
};

struct pfd_synthesized_count {
    uint64_t entries;
    uint64_t bytes;
};

struct pfd_synthesized_counts {
    struct pfd_dictionary keys; /* the id's 8 bytes, then the text */
    struct pfd_text key;
    struct pfd_text sums; /* struct pfd_synthesized_count, by the key's index */
    struct pfd_synthesized_count others;
    bool failed; /* out of memory */
};

void pfd_synthesized_counts_free(struct pfd_synthesized_counts *sums);

void pfd_synthesized_counts_add(struct pfd_synthesized_counts *sums,
                                const struct pfd_entry *entry);

/* Hands over all counts; info NULL: the strings beyond the limit. */
void pfd_synthesized_counts_give(const struct pfd_synthesized_counts *sums,
                                 pfd_string_sum_fn fn, void *user);

#endif
