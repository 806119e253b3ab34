/* SPDX-License-Identifier: MIT */
/*
 * A set of byte ranges. Ranges are added in any order; a settled set is sorted,
 * and its ranges neither overlap nor touch. Does not know the bytes.
 */
#ifndef PFD_RANGES_H
#define PFD_RANGES_H

#include <printfdecode/common.h>

struct pfd_ranges {
    struct pfd_range *at; /* [n] of [room], owned */
    size_t n;
    size_t room;
    bool failed; /* out of memory: the caller checks once, at the end */
};

void pfd_ranges_free(struct pfd_ranges *ranges);

/* Adds bytes [from, to); an empty range adds nothing. */
void pfd_ranges_add(struct pfd_ranges *ranges, uint64_t from, uint64_t to);
void pfd_ranges_settle(struct pfd_ranges *ranges);

/* Adds to ret the gaps that a settled set leaves in [0, end), those of at least
 * n_min bytes. */
void pfd_ranges_gaps(const struct pfd_ranges *ranges, uint64_t end,
                     uint64_t n_min, struct pfd_ranges *ret);

/* Bytes in a settled set. */
uint64_t pfd_ranges_bytes(const struct pfd_ranges *ranges);

/* The first byte behind a settled set; 0: it is empty. */
uint64_t pfd_ranges_end(const struct pfd_ranges *ranges);

/* The index of the first range of [n] settled ones that ends behind `at`; n:
 * none does. */
size_t pfd_range_find(const struct pfd_range *ranges, size_t n, uint64_t at);

#endif
