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
#ifndef PFD_BITS_H
#define PFD_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* A reading that takes so many bits more than another is not believed:
     * 1 in a million. */
    PFD_BITS_SURE = 20,
    /* That bytes were changed after they had been written. */
    PFD_BITS_DAMAGE = 28,
};

/* Bits of a text of n bytes, of which at most the last 256 count. */
unsigned pfd_bits_text(const uint8_t *text, size_t n);

/* Bits of an integer of n_bytes (1 to 8), signed or not: small ones are more
 * usual than large ones. */
unsigned pfd_bits_integer(uint64_t value, unsigned n_bytes);

/* Bits of a float of n_bytes (2, 4 or 8): round numbers are more usual, and
 * tiny ones are most often integers. */
unsigned pfd_bits_float(uint64_t value, unsigned n_bytes);

#endif
