/* SPDX-License-Identifier: MIT */
#ifndef PFD_ZERO_H
#define PFD_ZERO_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Are bytes [n] all zero? */
static inline bool pfd_is_zero(const void *bytes, size_t n)
{
    const char *at = bytes;
    return n == 0 || (at[0] == 0 && !memcmp(at, at + 1, n - 1));
}

#endif
