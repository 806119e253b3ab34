/* SPDX-License-Identifier: MIT */
/*
 * Sums without rounding: integers of several words in units of a power of two.
 * The result depends neither on the order of additions nor on how they were
 * divided among partial sums. All sums of a grid have the same width; it grows
 * when a number does not fit. No double needs more than 35 words, few pictures
 * more than 3.
 */
#ifndef PFD_EXACT_SUM_H
#define PFD_EXACT_SUM_H

#include <stddef.h>

#include "analysis/plot/double_double.h"

/* The position and width of sums. All zeros: nothing was added yet. */
struct pfd_exact_sum {
    int low;        /* the first word counts 2^low; a multiple of 64 */
    unsigned words; /* in two's complement, the least significant first */
};

/* A summand: units * 2^exponent. */
struct pfd_units {
    __int128 units;
    int exponent;
};

/* The summand of a finite number. */
struct pfd_units pfd_units_of(double number);

/* Does it fit, including the sum of up to 2^43 summands of its size? */
bool pfd_exact_sum_holds(const struct pfd_exact_sum *e, struct pfd_units part);
/* The width that takes it and all that fitted before. */
struct pfd_exact_sum pfd_exact_sum_grown(const struct pfd_exact_sum *e,
                                         struct pfd_units part);
/* Moves a sum to a greater width; `to` is zero. */
void pfd_exact_sum_move(const struct pfd_exact_sum *from, const uint64_t *words,
                        const struct pfd_exact_sum *room, uint64_t *to);

/* Adds to a sum [e->words], in which the summand fits. */
void pfd_exact_sum_add(const struct pfd_exact_sum *e, uint64_t *words,
                       struct pfd_units part);
/* Adds another sum of the same width. */
void pfd_exact_sum_join(const struct pfd_exact_sum *e, uint64_t *words,
                        const uint64_t *other);

/* The sum, rounded to twice a double's places. */
struct pfd_double_double pfd_exact_sum_round(const struct pfd_exact_sum *e,
                                             const uint64_t *words);

#endif
