/* SPDX-License-Identifier: MIT */
/* Timestamps of RFC 3339, in UTC. Any thread. */
#ifndef PFDD_TIMESTAMP_H
#define PFDD_TIMESTAMP_H

#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_TIMESTAMP = 32 /* enough bytes for one */
};

/* "2026-01-31T23:59:59.123456Z" of nanoseconds since 1970, with n digits after
 * the second, 1 to 9; further digits are cut off. Returns the number of bytes,
 * and writes no NUL. */
size_t pfdd_timestamp(char ret[PFDD_TIMESTAMP], uint64_t ns, unsigned n);

#endif
