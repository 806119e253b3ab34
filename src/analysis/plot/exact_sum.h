/* SPDX-License-Identifier: MIT */
/*
 * Sums without rounding: integers of some words in units of a power of two, so
 * that it does not matter what is added first, nor which of several sums. All
 * of a grid have the same room; where a number does not fit, they get more. No
 * double needs more than 35 words, few pictures more than 3.
 */
#ifndef PFD_EXACT_SUM_H
#define PFD_EXACT_SUM_H

#include <stddef.h>

#include "analysis/plot/double_double.h"

/* Where the words of sums are. All zeros: nothing was ever added. */
struct pfd_exact_sum {
    int low;        /* the first word counts 2^low; a multiple of 64 */
    unsigned words; /* in two's complement, the least first */
};

/* A part of a sum: units * 2^exponent. */
struct pfd_units {
    __int128 units;
    int exponent;
};

/* Of a finite number. */
struct pfd_units pfd_units_of(double number);

/* Does it fit, with all that up to 2^43 of its kind add up to? */
bool pfd_exact_sum_holds(const struct pfd_exact_sum *e, struct pfd_units part);
/* The room that it needs beside what has fitted before. */
struct pfd_exact_sum pfd_exact_sum_grown(const struct pfd_exact_sum *e,
                                         struct pfd_units part);
/* The same sum in more room; `to` is zero. */
void pfd_exact_sum_move(const struct pfd_exact_sum *from, const uint64_t *words,
                        const struct pfd_exact_sum *room, uint64_t *to);

/* To a sum [e->words] that it fits in. */
void pfd_exact_sum_add(const struct pfd_exact_sum *e, uint64_t *words,
                       struct pfd_units part);
/* Another sum of the same room. */
void pfd_exact_sum_join(const struct pfd_exact_sum *e, uint64_t *words,
                        const uint64_t *other);

/* The sum, rounded to twice a double's places. */
struct pfd_double_double pfd_exact_sum_round(const struct pfd_exact_sum *e,
                                             const uint64_t *words);

#endif
