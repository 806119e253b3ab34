/* SPDX-License-Identifier: MIT */
/*
 * The part of the search that reads every byte: marks the pages where a buffer
 * or packet could begin. Works on several threads; the marks do not depend on
 * their number.
 */
#ifndef PFD_PREFILTER_H
#define PFD_PREFILTER_H

#include "core/decode/format.h"
#include "memory/search/kernels.h"

enum {
    PFD_PREFILTER_PAGE = 4096, /* bytes */
    PFD_PREFILTER_PIECE = 1 << 20,
    PFD_PREFILTER_PIECES = 64,
    PFD_PREFILTER_MARKS = PFD_PREFILTER_PIECE / PFD_PREFILTER_PAGE + 1,
    PFD_PREFILTER_FORMATS = 31,
};

/* Bits of a page's mark. */
#define PFD_PREFILTER_PACKET     UINT64_C(1)
#define PFD_PREFILTER_HEADER(i)  (UINT64_C(2) << 2 * (i)) /* of format i */
#define PFD_PREFILTER_ENTRIES(i) (UINT64_C(4) << 2 * (i))

/* The patterns that are searched for; borrowed, and only read. */
struct pfd_prefilter {
    const struct pfd_strings *strings;
    const struct pfd_kernels *kernels;
    unsigned threads;
};

/* A slice [from, to) of the field, PFD_PREFILTER_PIECE bytes at most, with a
 * mark for each page of addresses in it; 0: no candidate. */
struct pfd_prefilter_slice {
    size_t from;
    size_t to;
    uint64_t marks[PFD_PREFILTER_MARKS];
};

/* Fills the marks of slices [n]. */
void pfd_prefilter_run(const struct pfd_prefilter *prefilter,
                       const struct pfd_field *field,
                       struct pfd_prefilter_slice *pieces, size_t n);

/* The field with format i's strings. */
struct pfd_field pfd_prefilter_field(const struct pfd_prefilter *prefilter,
                                     const struct pfd_field *field, size_t i);

/* The end of the page at `at`, or `to` if that is lower. */
size_t pfd_prefilter_page_end(const struct pfd_field *field, size_t at,
                              size_t to);

#endif
