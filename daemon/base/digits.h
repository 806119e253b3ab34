/* SPDX-License-Identifier: MIT */
/* Numbers in text, where a format would take most of the time. Any thread. */
#ifndef PFDD_DIGITS_H
#define PFDD_DIGITS_H

#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_DIGITS = 24 /* bytes that any of these has, at most, and more */
};

/* They return how many bytes there are; none is NUL. */
size_t pfdd_decimal(char ret[PFDD_DIGITS], uint64_t value);
/* "0x", and n digits or more, at most 16. */
size_t pfdd_hex(char ret[PFDD_DIGITS], uint64_t value, unsigned n);

#endif
