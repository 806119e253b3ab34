/* SPDX-License-Identifier: MIT */
/* Formats numbers where printf() would take most of the time. Any thread. */
#ifndef PFDD_DIGITS_H
#define PFDD_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/text.h"

enum {
    PFDD_DIGITS = 24 /* enough bytes for each of them */
};

/* They return the number of bytes, and write no NUL. */
size_t pfdd_decimal(char ret[PFDD_DIGITS], uint64_t value);
/* "0x", and n digits or more, at most 16. */
size_t pfdd_hex(char ret[PFDD_DIGITS], uint64_t value, unsigned n);

/* Appends them. */
void pfdd_text_number(struct pfd_text *text, uint64_t value);
void pfdd_text_hex(struct pfd_text *text, uint64_t value, unsigned n);

#endif
