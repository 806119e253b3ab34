/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <check.h>

struct guard guard_new(const void *bytes, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t readable = (n + page - 1) / page * page;
    struct guard ret = { .n = n, .n_map = readable + page };
    ret.map = mmap(NULL, ret.n_map, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(ret.map, MAP_FAILED);
    uint8_t *at = (uint8_t *)ret.map + readable - n;
    if (n > 0)
        memcpy(at, bytes, n);
    if (readable > 0)
        ck_assert_int_eq(mprotect(ret.map, readable, PROT_READ), 0);
    ck_assert_int_eq(mprotect((uint8_t *)ret.map + readable, page, PROT_NONE),
                     0);
    ret.bytes = at;
    return ret;
}

void guard_free(struct guard *guard)
{
    munmap(guard->map, guard->n_map);
}
