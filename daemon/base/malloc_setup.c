/* SPDX-License-Identifier: MIT */
#include "base/malloc_setup.h"

#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LARGE_PAGE = 2 << 20,
    RESERVE_MAX = 1 << 30, /* mallopt() takes an int */
    STEP = 1 << 20,        /* growth beyond the reserved bytes */
    MAPPED = 8 << 20,      /* larger blocks have mappings of their own */
    FIRST = 1 << 20,       /* more than the heap has free */
};

void pfdd_malloc_setup(size_t n)
{
#ifdef __GLIBC__
    char *begin = sbrk(0);
    n = n < RESERVE_MAX ? n : RESERVE_MAX;
    if (mallopt(M_ARENA_MAX, 1) != 1 ||
        mallopt(M_MMAP_THRESHOLD, MAPPED) != 1 ||
        mallopt(M_TRIM_THRESHOLD, INT_MAX) != 1 ||
        mallopt(M_TOP_PAD, (int)n) != 1)
        return;
    void *volatile first = malloc(FIRST); /* grows the heap by FIRST and n */
    free(first);
    mallopt(M_TOP_PAD, STEP);
    char *end = sbrk(0);
    char *from = begin + (-(uintptr_t)begin & (LARGE_PAGE - 1));
    if (end > from)
        madvise(from, (size_t)(end - from), MADV_HUGEPAGE);
#else
    (void)n;
#endif
}
