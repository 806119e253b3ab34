/* SPDX-License-Identifier: MIT */
/* A memcpy() that writes its first half last, half a second later, where it copies
 * much: for LD_PRELOAD. */
#include <stddef.h>
#include <unistd.h>

enum {
    MUCH = 1 << 20
};

static void copy(char *to, const char *from, size_t n)
{
    while (n-- > 0)
        ((volatile char *)to)[n] = from[n];
}

__attribute__((visibility("default"))) void *memcpy(void *restrict to,
                                                    const void *restrict from,
                                                    size_t n);

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    size_t half = n > MUCH ? n / 2 : 0;
    copy((char *)to + half, (const char *)from + half, n - half);
    if (half)
        usleep(500000);
    copy(to, from, half);
    return to;
}
