/* SPDX-License-Identifier: MIT */
#include "core/base/large_pages.h"

#include <stdlib.h>
#include <string.h>
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

enum {
    WORTH_IT = 1 << 22 /* bytes from which on a mapping is used */
};

void *pfd_zeroed_new(size_t n_bytes)
{
    if (n_bytes < WORTH_IT)
        return calloc(1, n_bytes);
    void *room = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

void pfd_zeroed_free(void *room, size_t n_bytes)
{
    if (n_bytes < WORTH_IT) {
        free(room);
    } else if (room) {
        (void)munmap(room, n_bytes);
    }
}

void *pfd_zeroed_grow(void *room, size_t was, size_t n_bytes)
{
    void *more = NULL;
    if (was >= WORTH_IT) {
        more = mremap(room, was, n_bytes, MREMAP_MAYMOVE);
        return more == MAP_FAILED ? NULL : more;
    }
    more = pfd_zeroed_new(n_bytes);
    if (more) {
        memcpy(more, room, was);
        free(room);
    }
    return more;
}

void pfd_zeroed_whole(void *room, size_t n_bytes)
{
    if (room && n_bytes >= WORTH_IT)
        (void)madvise(room, n_bytes, MADV_HUGEPAGE);
}
