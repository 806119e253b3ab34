/* SPDX-License-Identifier: MIT */
/* A set of numbered texts: the dictionary of a column. */
#ifndef PFD_DICTIONARY_H
#define PFD_DICTIONARY_H

#include "core/base/text.h"

struct pfd_dictionary {
    struct pfd_text bytes; /* of texts, one behind another */
    struct pfd_text ends;  /* uint32_t, behind a 0 */
    uint32_t *slots;       /* [n_slots], a power of two: number + 1; owned */
    size_t n_slots;
    uint32_t n;
    bool failed; /* out of memory */
};

void pfd_dictionary_free(struct pfd_dictionary *dictionary);
void pfd_dictionary_clear(struct pfd_dictionary *dictionary);

/* The text's number, from 0 in the order of adding; adds a new text. */
uint32_t pfd_dictionary_add(struct pfd_dictionary *dictionary, const char *text,
                            size_t n);

/* The number of a known text; UINT32_MAX: it is unknown. */
uint32_t pfd_dictionary_find(const struct pfd_dictionary *dictionary,
                             const char *text, size_t n);

#endif
