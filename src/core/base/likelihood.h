/* SPDX-License-Identifier: MIT */
/*
 * Scores how plausible some bytes are as a text, an integer or a float of a
 * program: the number of bits that it takes to encode them as such. Of several
 * readings of the same bytes, the one with the fewest bits in total is the
 * likeliest; each further bit halves a reading's odds. Does not know formats.
 *
 * No score excludes a reading: a text may hold any byte but NUL.
 */
#ifndef PFD_LIKELIHOOD_H
#define PFD_LIKELIHOOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* A reading that takes so many bits more than another is rejected: odds of
     * 1 in a million. */
    PFD_LIKELIHOOD_SURE = 20,
    /* The cost of assuming that bytes were damaged after they were written. */
    PFD_LIKELIHOOD_DAMAGE = 28,
};

/* Bits of a text of n bytes, of which at most the last 256 count. */
unsigned pfd_likelihood_text(const uint8_t *text, size_t n);

/* Bits of an integer of n_bytes (1 to 8), signed or not: small values are more
 * usual than large ones. */
unsigned pfd_likelihood_integer(uint64_t value, unsigned n_bytes);

/* Bits of a float of n_bytes (2, 4 or 8): round values are more usual; tiny
 * ones are usually integers. */
unsigned pfd_likelihood_float(uint64_t value, unsigned n_bytes);

/* One reading of some bytes: its choices, as bits that the caller defines, and
 * its score. */
struct pfd_way {
    uint32_t bits; /* UINT32_MAX: that or more */
    uint64_t choice;
};

enum {
    PFD_WAYS_MAX = 5
};

/* The likeliest readings; of equals, the first one added comes first. */
struct pfd_ways {
    struct pfd_way way[PFD_WAYS_MAX];
    unsigned n;
};

static inline uint32_t pfd_likelihood_add(uint32_t a, uint64_t b)
{
    return b < UINT32_MAX - a ? a + (uint32_t)b : UINT32_MAX;
}

void pfd_ways_add(struct pfd_ways *ways, uint32_t bits, uint64_t choice);

/* Adds the same score to every reading. */
static inline void pfd_ways_all_add(struct pfd_ways *ways, uint64_t bits)
{
    for (unsigned i = 0; i < ways->n; i++)
        ways->way[i].bits = pfd_likelihood_add(ways->way[i].bits, bits);
}

/* The number of readings that are not rejected; 1: there is no doubt. */
static inline unsigned pfd_ways_left(const struct pfd_ways *ways)
{
    unsigned n = 0;
    while (n < ways->n &&
           ways->way[n].bits - ways->way[0].bits < PFD_LIKELIHOOD_SURE)
        n++;
    return n;
}

#endif
