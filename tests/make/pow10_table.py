#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes src/core/print/number_tables.h and src/core/print/number_tables.c (the tables that the
number printers read). Exact integer arithmetic, standard library only.

usage: pow10_table.py SRC_FOLDER
"""

import arguments

# %e and %g scale by 10^(n - 1 - exponent), with 1 <= n <= 17 digits and
# exponents -324..308; the shortest printers need -292..324.
MIN, MAX = -325, 342

NOTE = """/* SPDX-License-Identifier: MIT */
/* Written by tests/make/pow10_table.py; do not edit. */
/* clang-format off */
"""

HEADER = NOTE + """/*
 * Constant tables of the number printers. Know powers and digits, nothing
 * else.
 */
#ifndef PFD_NUMBER_TABLES_H
#define PFD_NUMBER_TABLES_H

#include <stdint.h>

enum { PFD_POW10_MIN = %d, PFD_POW10_MAX = %d };

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
"""


def floor_log2_pow10(k):
    if k >= 0:
        return (10**k).bit_length() - 1
    n = 10**-k
    return -n.bit_length() if n & (n - 1) else 1 - n.bit_length()


def pow10_128(k):
    shift = 127 - floor_log2_pow10(k)
    num, den = (10**k, 1) if k >= 0 else (1, 10**-k)
    if shift >= 0:
        num <<= shift
    else:
        den <<= -shift
    g = -(-num // den)
    assert 1 << 127 <= g < 1 << 128
    exact = num % den == 0
    assert exact == (0 <= k <= 55), k
    # The printers take lo == 0 for exact when only hi is used.
    assert exact or g & (2**64 - 1), k
    # The same logarithm, as C computes it.
    assert (k * 1741647) >> 19 == floor_log2_pow10(k), k
    return g


def digits10_entry(bit):
    low, high = len(str(1 << bit)), len(str((2 << bit) - 1))
    return low << 32 if low == high else (high << 32) - 10**low


def rows(items, per_row, indent="    "):
    for i in range(0, len(items), per_row):
        yield indent + ", ".join(items[i : i + per_row]) + ","


def powers():
    """Two to a line, and a word where each ten of them begins."""
    for k in range(MIN, MAX + 1, 2):
        if (k - MIN) % 10 == 0:
            yield f"    /* {k} */"
        pair = [pow10_128(i) for i in range(k, min(k + 2, MAX + 1))]
        yield from rows([f"{{ 0x{g >> 64:016x}, 0x{g & (2**64 - 1):016x} }}"
                         for g in pair], 2)


def source():
    yield NOTE + '#include "core/print/number_tables.h"\n'
    yield ("const struct pfd_pow10 "
           "pfd_pow10_table[PFD_POW10_MAX - PFD_POW10_MIN + 1] = {")
    yield from powers()
    yield "};\n\nconst uint64_t pfd_pow10_u64[20] = {"
    yield from rows([f"{10**k}u" for k in range(20)], 4)
    yield "};\n\nconst uint64_t pfd_digits10_table[32] = {"
    yield from rows([f"0x{digits10_entry(b):011x}" for b in range(32)], 4)
    yield "};\n\nconst char pfd_digit_pairs[200] = {"
    chars = "".join(f"{n:02d}" for n in range(100))
    yield from rows([f"'{c}'" for c in chars], 10)
    yield "};"


def main():
    folder, = arguments.folders(__doc__, "SRC_FOLDER")
    for e2 in range(-1100, 1100):  # the logarithm that C computes for 2^e2
        e10 = (e2 * 1262611) >> 22
        num, den = (2**e2, 1) if e2 >= 0 else (1, 2**-e2)
        low = 10**e10 if e10 >= 0 else 1
        scale = 1 if e10 >= 0 else 10**-e10
        assert low * den <= num * scale < 10 * low * den
    with open(f"{folder}/number_tables.h", "w") as f:
        f.write(HEADER % (MIN, MAX))
    with open(f"{folder}/number_tables.c", "w") as f:
        f.write("\n".join(source()) + "\n")


main()
