/* SPDX-License-Identifier: MIT */
/* Written by tests/make/pow10_table.py; do not edit. */
/* clang-format off */
/*
 * Constant tables of the number printers. Know powers and digits, nothing
 * else.
 */
#ifndef PFD_NUMBER_TABLES_H
#define PFD_NUMBER_TABLES_H

#include <stdint.h>

enum { PFD_POW10_MIN = -325, PFD_POW10_MAX = 342 };

/* 10^k = (hi * 2^64 + lo) * 2^(floor(log2(10^k)) - 127), rounded up to 128
 * bits: exact for 0 <= k <= 55, else less than one unit too large. */
struct pfd_pow10 {
    uint64_t hi;
    uint64_t lo;
};
extern const struct pfd_pow10 pfd_pow10_table[PFD_POW10_MAX - PFD_POW10_MIN + 1];

/* 10^0 to 10^19. */
extern const uint64_t pfd_pow10_u64[20];

/* (value + table[floor(log2(value))]) >> 32 is the number of decimal digits of
 * a 32-bit value. */
extern const uint64_t pfd_digits10_table[32];

/* "00", "01" to "99". */
extern const char pfd_digit_pairs[200];

#endif
