/* SPDX-License-Identifier: MIT */
/* Different texts, each with a number: the dictionary of a column. */
#ifndef PFD_DICTIONARY_H
#define PFD_DICTIONARY_H

#include "core/base/text.h"

struct pfd_dictionary {
    struct pfd_text bytes; /* one after another */
    struct pfd_text ends;  /* uint32_t, behind a 0 */
    uint32_t *slots;       /* [n_slots], a power of two: number + 1; owned */
    size_t n_slots;
    uint32_t n;
    bool failed; /* out of memory */
};

void pfd_dictionary_free(struct pfd_dictionary *dictionary);
void pfd_dictionary_clear(struct pfd_dictionary *dictionary);

/* The text's number, new ones counted from 0. */
uint32_t pfd_dictionary_add(struct pfd_dictionary *dictionary, const char *text,
                            size_t n);

/* The same of one that is there; UINT32_MAX: it is not. */
uint32_t pfd_dictionary_find(const struct pfd_dictionary *dictionary,
                             const char *text, size_t n);

#endif
