/* SPDX-License-Identifier: MIT */
/* Sizes and times as people write them. */
#ifndef PFDD_UNITS_H
#define PFDD_UNITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* "7" or "0x7"; "32MiB": bytes; "100ms", "5s", "2min", "1h", "3d": milliseconds. False:
 * it is none, or more than 64 bits. */
bool pfdd_number_read(const char *text, uint64_t *ret);
bool pfdd_size_read(const char *text, uint64_t *ret);
bool pfdd_time_read(const char *text, uint64_t *ret);

/* In the largest unit that leaves no rest. */
void pfdd_size_put(FILE *out, uint64_t bytes);
void pfdd_time_put(FILE *out, uint64_t ms);

#endif
