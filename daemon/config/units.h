/* SPDX-License-Identifier: MIT */
/* Sizes and times in the notation of the configuration. */
#ifndef PFDD_UNITS_H
#define PFDD_UNITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* "7" or "0x7"; "32MiB": bytes; "100ms", "5s", "2min", "1h", "3d":
 * milliseconds. False: invalid, or more than 64 bits. */
bool pfdd_units_read_number(const char *text, uint64_t *ret);
bool pfdd_units_read_size(const char *text, uint64_t *ret);
bool pfdd_units_read_time(const char *text, uint64_t *ret);

/* In the largest unit that divides it. */
void pfdd_units_put_size(FILE *out, uint64_t bytes);
void pfdd_units_put_time(FILE *out, uint64_t ms);

/* A size or a time as a configuration has it: 32MiB, 5s. */
enum {
    PFDD_UNITS_TEXT = 32
};
void pfdd_units_size_text(char ret[PFDD_UNITS_TEXT], uint64_t bytes);
void pfdd_units_time_text(char ret[PFDD_UNITS_TEXT], uint64_t ms);

/* The size or time that text with another unit, or none, may stand for: 1GiB of
 * "1 GB". False: none is known. */
bool pfdd_units_meant_size(char ret[PFDD_UNITS_TEXT], const char *text);
bool pfdd_units_meant_time(char ret[PFDD_UNITS_TEXT], const char *text);

#endif
