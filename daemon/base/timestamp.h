/* SPDX-License-Identifier: MIT */
/* Times as RFC 3339 writes them, in UTC. Any thread. */
#ifndef PFDD_TIMESTAMP_H
#define PFDD_TIMESTAMP_H

#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_TIMESTAMP = 32 /* bytes that one has, at most, and more */
};

/* "2026-01-31T23:59:59.123456Z" of nanoseconds since 1970, with n digits behind
 * the second, 1 to 9; what is beyond them is cut off. Returns how many bytes there
 * are; none is NUL. */
size_t pfdd_timestamp(char ret[PFDD_TIMESTAMP], uint64_t ns, unsigned n);

#endif
