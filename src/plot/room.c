/* SPDX-License-Identifier: MIT */
#include "plot/room.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    WORTH_IT = 1 << 22 /* bytes from which on it is */
};

void pfd_room_whole(void *room, size_t n_bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)room + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)room + n_bytes) / page * page;
    if (room && n_bytes >= WORTH_IT)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
}
