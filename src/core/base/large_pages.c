/* SPDX-License-Identifier: MIT */
#include "core/base/large_pages.h"

#include <stdlib.h>
#include <sys/mman.h>

void *pfd_large_pages_new(size_t n)
{
    void *ret = NULL;
    if (n < PFD_LARGE_PAGE)
        return malloc(n);
    if (posix_memalign(&ret, PFD_LARGE_PAGE, n))
        return NULL;
    madvise(ret, n, MADV_HUGEPAGE); /* may fail */
    return ret;
}
