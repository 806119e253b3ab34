/* SPDX-License-Identifier: MIT */
#include "base/digits.h"

#include <string.h>

/* Two digits at a time: timestamps have nineteen. */
size_t pfdd_decimal(char ret[PFDD_DIGITS], uint64_t value)
{
    static const char pairs[] = "00010203040506070809"
                                "10111213141516171819"
                                "20212223242526272829"
                                "30313233343536373839"
                                "40414243444546474849"
                                "50515253545556575859"
                                "60616263646566676869"
                                "70717273747576777879"
                                "80818283848586878889"
                                "90919293949596979899";
    char text[PFDD_DIGITS];
    char *end = text + sizeof text;
    char *at = end;
    for (; value >= 10; value /= 100)
        memcpy(at -= 2, pairs + 2 * (value % 100), 2);
    if (value || at == end)
        *--at = (char)('0' + value);
    size_t n = (size_t)(end - at);
    memcpy(ret, at, n);
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

void pfdd_text_number(struct pfd_text *text, uint64_t value)
{
    char *at = pfd_text_reserve(text, PFDD_DIGITS);
    if (at)
        text->n += pfdd_decimal(at, value);
}

void pfdd_text_hex(struct pfd_text *text, uint64_t value, unsigned n)
{
    char *at = pfd_text_reserve(text, PFDD_DIGITS);
    if (at)
        text->n += pfdd_hex(at, value, n);
}
