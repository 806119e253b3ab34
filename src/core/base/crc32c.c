/* SPDX-License-Identifier: MIT */
#include "core/base/crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

enum {
    SLICES = 8 /* bytes per step */
};

#define POLYNOMIAL UINT32_C(0x82f63b78)

static uint32_t tables[SLICES][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        tables[0][i] = crc;
    }
    for (int k = 1; k < SLICES; k++) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t before = tables[k - 1][i];
            tables[k][i] = before >> 8 ^ tables[0][before & 255];
        }
    }
}

uint32_t pfd_crc32c_tables(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    pthread_once(&once, make_tables);
    crc = ~crc;
    for (; n >= SLICES; n -= SLICES, p += SLICES) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        word ^= crc;
        crc = 0;
        for (int k = 0; k < SLICES; k++)
            crc ^= tables[SLICES - 1 - k][word >> (8 * k) & 255];
    }
    for (; n; n--, p++)
        crc = crc >> 8 ^ tables[0][(crc ^ *p) & 255];
    return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc,
                                                               const uint8_t *p,
                                                               size_t n)
{
    uint64_t wide = (uint32_t)~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    for (; n; n--, p++)
        crc = _mm_crc32_u8(crc, *p);
    return ~crc;
}
#endif

uint32_t pfd_crc32c(uint32_t crc, const void *bytes, size_t n)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return crc32c_sse42(crc, bytes, n);
#endif
    return pfd_crc32c_tables(crc, bytes, n);
}
