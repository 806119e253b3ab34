/* SPDX-License-Identifier: MIT */
/*
 * How much bytes look like something: as the bits that it takes to write them
 * down if they are a text, an integer or a float, as programs print them. Where
 * bytes can be read in several ways, the reading that takes the fewest bits
 * over all of them is the likeliest one, and each bit that another takes more
 * halves its odds. Knows nothing of formats.
 *
 * Nothing here excludes anything: a text may hold any byte but NUL.
 */
#ifndef PFD_LIKELIHOOD_H
#define PFD_LIKELIHOOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* A reading that takes so many bits more than another is not believed:
     * 1 in a million. */
    PFD_LIKELIHOOD_SURE = 20,
    /* That bytes were changed after they had been written. */
    PFD_LIKELIHOOD_DAMAGE = 28,
};

/* Bits of a text of n bytes, of which at most the last 256 count. */
unsigned pfd_likelihood_text(const uint8_t *text, size_t n);

/* Bits of an integer of n_bytes (1 to 8), signed or not: small ones are more
 * usual than large ones. */
unsigned pfd_likelihood_integer(uint64_t value, unsigned n_bytes);

/* Bits of a float of n_bytes (2, 4 or 8): round numbers are more usual, and
 * tiny ones are most often integers. */
unsigned pfd_likelihood_float(uint64_t value, unsigned n_bytes);

/* A way to read some bytes: what it chose, as bits that its maker knows the
 * meaning of, and what it takes. */
struct pfd_way {
    uint32_t bits; /* UINT32_MAX: that or more */
    uint64_t choice;
};

enum {
    PFD_WAYS_MAX = 5
};

/* The likeliest ones, the first of equals first. */
struct pfd_ways {
    struct pfd_way way[PFD_WAYS_MAX];
    unsigned n;
};

static inline uint32_t pfd_likelihood_add(uint32_t a, uint64_t b)
{
    return b < UINT32_MAX - a ? a + (uint32_t)b : UINT32_MAX;
}

void pfd_ways_add(struct pfd_ways *ways, uint32_t bits, uint64_t choice);

/* All of them take so much more. */
static inline void pfd_ways_all_add(struct pfd_ways *ways, uint64_t bits)
{
    for (unsigned i = 0; i < ways->n; i++)
        ways->way[i].bits = pfd_likelihood_add(ways->way[i].bits, bits);
}

/* How many are not so unlikely that they are left out; 1: there is no doubt. */
static inline unsigned pfd_ways_left(const struct pfd_ways *ways)
{
    unsigned n = 0;
    while (n < ways->n &&
           ways->way[n].bits - ways->way[0].bits < PFD_LIKELIHOOD_SURE)
        n++;
    return n;
}

#endif
