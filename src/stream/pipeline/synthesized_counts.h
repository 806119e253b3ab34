/* SPDX-License-Identifier: MIT */
/* Entries and bytes of format strings that come in the buffer, by their ids and
 * texts; of one thread. A buffer can bring any number of them: those beyond the
 * first are counted as one. */
#ifndef PFD_SYNTHESIZED_COUNTS_H
#define PFD_SYNTHESIZED_COUNTS_H

#include <printfdecode/convert.h>

#include "analysis/table/dictionary.h"

enum {
    PFD_MADE_SUMS_MAX = 1 << 16,    /* strings */
    PFD_MADE_SUMS_BYTES = 16 << 20, /* of their texts */
};

struct pfd_made_sum {
    uint64_t entries;
    uint64_t bytes;
};

struct pfd_made_sums {
    struct pfd_words keys; /* the id's 8 bytes, then the text */
    struct pfd_text key;
    struct pfd_text sums; /* struct pfd_made_sum, by the key's number */
    struct pfd_made_sum others;
    bool failed; /* out of memory */
};

void pfd_made_sums_free(struct pfd_made_sums *sums);

void pfd_made_sums_add(struct pfd_made_sums *sums,
                       const struct pfd_entry *entry);

/* Hands all of them over; info NULL: those beyond the first. */
void pfd_made_sums_give(const struct pfd_made_sums *sums, pfd_string_sum_fn fn,
                        void *user);

#endif
