/* SPDX-License-Identifier: MIT */
/* A moment, as a command line says it. */
#ifndef CLI_SINCE_H
#define CLI_SINCE_H

#include <stdbool.h>
#include <stdint.h>

/* "10m" (s, m, h, d): *ago, nanoseconds; a time of RFC 3339: *time, since 1970.
 * The other one is 0. False: neither. */
bool since_read(const char *text, uint64_t *time, uint64_t *ago);

#endif
