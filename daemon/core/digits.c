/* SPDX-License-Identifier: MIT */
#include "core/digits.h"

size_t pfdd_decimal(char ret[PFDD_DIGITS], uint64_t value)
{
    size_t n = 1;
    for (uint64_t left = value / 10; left; left /= 10)
        n++;
    for (size_t i = n; i--; value /= 10)
        ret[i] = (char)('0' + value % 10);
    return n;
}

size_t pfdd_hex(char ret[PFDD_DIGITS], uint64_t value, unsigned n)
{
    unsigned n_needed = value ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 1;
    n = n > n_needed ? n : n_needed;
    ret[0] = '0';
    ret[1] = 'x';
    for (unsigned i = n; i--; value >>= 4)
        ret[2 + i] = "0123456789abcdef"[value & 15];
    return 2 + n;
}
