/* SPDX-License-Identifier: MIT */
#ifndef PFD_FNV_H
#define PFD_FNV_H

#include <stddef.h>
#include <stdint.h>

#define PFD_FNV_START UINT64_C(0xcbf29ce484222325)

/* FNV-1a of 64 bits, chained through h. */
static inline uint64_t pfd_fnv1a(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        h = (h ^ at[i]) * UINT64_C(0x100000001b3);
    return h;
}

#endif
