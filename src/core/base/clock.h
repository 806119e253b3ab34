/* SPDX-License-Identifier: MIT */
#ifndef PFD_CLOCK_H
#define PFD_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The clock's time, ns. */
static inline uint64_t pfd_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif
