/* SPDX-License-Identifier: MIT */
/* Points in time on the command line. */
#ifndef CLI_SINCE_H
#define CLI_SINCE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads "10m" (s, m, h, d) into *ago, nanoseconds, or a time of RFC 3339 into
 * *time, nanoseconds since 1970. The other one is 0. False: neither. */
bool since_read(const char *text, uint64_t *time, uint64_t *ago);

#endif
