/* SPDX-License-Identifier: MIT */
/*
 * The part of the search that looks at every byte: which pages have a place
 * where something could begin. Several threads look; what they say does not
 * depend on how many.
 */
#ifndef PFD_PREFILTER_H
#define PFD_PREFILTER_H

#include "core/decode/format.h"
#include "memory/search/kernels.h"

enum {
    PFD_SIEVE_PAGE = 4096, /* bytes */
    PFD_SIEVE_PIECE = 1 << 20,
    PFD_SIEVE_PIECES = 64,
    PFD_SIEVE_MARKS = PFD_SIEVE_PIECE / PFD_SIEVE_PAGE + 1,
    PFD_SIEVE_FORMATS = 31,
};

/* Bits of a page's mark. */
#define PFD_SIEVE_PACKET     UINT64_C(1)
#define PFD_SIEVE_HEADER(i)  (UINT64_C(2) << 2 * (i)) /* of format i */
#define PFD_SIEVE_ENTRIES(i) (UINT64_C(4) << 2 * (i))

/* What is looked for; borrowed, and only read. */
struct pfd_sieve {
    const struct pfd_strings *strings;
    const struct pfd_kernels *kernels;
    unsigned threads;
};

/* Part [from, to) of one, PFD_SIEVE_PIECE bytes at most, and a mark for each
 * page in it that addresses part it into; 0: nothing is there. */
struct pfd_sieve_piece {
    size_t from;
    size_t to;
    uint64_t marks[PFD_SIEVE_MARKS];
};

/* Fills the marks of pieces [n]. */
void pfd_sieve_run(const struct pfd_sieve *sieve, const struct pfd_field *field,
                   struct pfd_sieve_piece *pieces, size_t n);

/* The field with format i's own strings. */
struct pfd_field pfd_sieve_field(const struct pfd_sieve *sieve,
                                 const struct pfd_field *field, size_t i);

/* The end of the page at `at`, or `to` if that comes first. */
size_t pfd_sieve_page_end(const struct pfd_field *field, size_t at, size_t to);

#endif
