/* SPDX-License-Identifier: MIT */
#include "core/base/uncached_copy.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <smmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum {
    LINE_BYTES = 64, /* bytes that one access fetches */
};

#ifdef __x86_64__
/* MOVNTDQA: from write-combined memory it fetches a whole line, into a buffer
 * that only a fence empties. */
__attribute__((target("sse4.1"))) static void copy_lines(char *to,
                                                         const char *from,
                                                         size_t n)
{
    _mm_mfence();
    for (size_t i = 0; i < n; i += LINE_BYTES) {
        __m128i *in = (__m128i *)(uintptr_t)(from + i);
        __m128i *out = (__m128i *)(void *)(to + i);
        __m128i a = _mm_stream_load_si128(in);
        __m128i b = _mm_stream_load_si128(in + 1);
        __m128i c = _mm_stream_load_si128(in + 2);
        __m128i d = _mm_stream_load_si128(in + 3);
        _mm_storeu_si128(out, a);
        _mm_storeu_si128(out + 1, b);
        _mm_storeu_si128(out + 2, c);
        _mm_storeu_si128(out + 3, d);
    }
}

static bool has_lines(void)
{
    return __builtin_cpu_supports("sse4.1");
}
#elif defined(__aarch64__)
static void copy_lines(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i += LINE_BYTES)
        vst1q_u8_x4((uint8_t *)to + i, vld1q_u8_x4((const uint8_t *)from + i));
}

static bool has_lines(void)
{
    return true;
}
#else
static void copy_lines(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}

static bool has_lines(void)
{
    return false;
}
#endif

/* The lines in the middle are copied as such. */
void pfd_uncached_copy(void *to, const void *from, size_t n)
{
    char *out = to;
    const char *in = from;
    size_t head = -(uintptr_t)in % LINE_BYTES;
    size_t middle =
        has_lines() && n > head ? (n - head) / LINE_BYTES * LINE_BYTES : 0;
    head = middle ? head : n;
    memcpy(out, in, head);
    copy_lines(out + head, in + head, middle);
    memcpy(out + head + middle, in + head + middle, n - head - middle);
}
