/* SPDX-License-Identifier: MIT */
/*
 * Contiguous bytes from an address on: in place in a core's file, or a copy
 * where segments divide them or a process has them. Holes are known and never
 * read; they take no memory in a copy.
 */
#ifndef PFD_MEMORY_VIEW_H
#define PFD_MEMORY_VIEW_H

#include "memory/search/search_space.h"

/* All zero is an empty view. */
struct pfd_code_piece {
    const uint8_t *bytes;    /* [n]; NULL: none are present */
    size_t n;                /* below the wanted number where memory ends */
    struct pfd_ranges holes; /* ranges of bytes, settled: pages of zeros */
    uint64_t n_data;         /* bytes that were read: all but file holes */
    uint8_t *copy;           /* [n_copy], owned; or NULL */
    size_t n_copy;
    bool failed; /* out of memory */
};

/* n_most: limit of data bytes that are read; the view ends there, and n says
 * so. */
void pfd_memory_view_take(struct pfd_search_space *search_space,
                          uint64_t address, uint64_t n_wanted, uint64_t n_most,
                          struct pfd_code_piece *ret);
void pfd_memory_view_free(struct pfd_code_piece *memory_view);

/* Are all bytes [n] zero? n is not 0. */
bool pfd_is_zero(const uint8_t *bytes, size_t n);

#endif
