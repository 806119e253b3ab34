/* SPDX-License-Identifier: MIT */
/* A set of texts, numbered in order of adding. Owns its bytes. */
#ifndef PFD_TEXT_SET_H
#define PFD_TEXT_SET_H

#include "core/base/arena.h"
#include "core/base/error.h"

struct pfd_text_set_text {
    const char *text; /* [n] and a NUL */
    size_t n;
    uint64_t hash;
};

/* All zero is an empty set. */
struct pfd_text_set {
    struct pfd_arena arena;
    struct pfd_text_set_text *texts; /* [n] */
    size_t n;
    uint32_t *slots; /* [n_slots], a power of two: numbers from 1 */
    size_t n_slots;
};

void pfd_text_set_free(struct pfd_text_set *text_set);

/* The number of the text, which is added if it is new; SIZE_MAX: out of
 * memory. */
size_t pfd_text_set_add(struct pfd_text_set *text_set, const char *text,
                        size_t n);

#endif
