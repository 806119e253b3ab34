/* SPDX-License-Identifier: MIT */
#include "reading.h"

#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <smmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "gpu_copy.h"
#include "mapping.h"

enum {
    LINE_BYTES = 64,          /* bytes that one access fetches */
    GPU_MIN_BYTES = 64 << 10, /* fewer are read sooner than the device has
                                 begun to copy */
};

#ifdef __x86_64__
/* MOVNTDQA: from write-combined memory it fetches a whole line. Both are
 * aligned to 16 bytes at `from`. */
__attribute__((target("sse4.1"))) static void copy_lines(char *to,
                                                         const char *from,
                                                         size_t n)
{
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
    for (size_t i = 0; i < n; i += LINE_BYTES) {
        vst1q_u8_x4((uint8_t *)to + i, vld1q_u8_x4((const uint8_t *)from + i));
    }
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

/* Reads memory that is not cached: the lines in the middle as such. */
static void copy_uncached(char *to, const char *from, size_t n)
{
    size_t head = -(uintptr_t)from % LINE_BYTES;
    size_t middle =
        has_lines() && n > head ? (n - head) / LINE_BYTES * LINE_BYTES : 0;
    head = middle ? head : n;
    memcpy(to, from, head);
    copy_lines(to + head, from + head, middle);
    memcpy(to + head + middle, from + head + middle, n - head - middle);
}

static bool is_for_gpu(const struct device *d, const struct memory *m,
                       const struct buffer *b, size_t n)
{
    return n >= GPU_MIN_BYTES && m->is_local && b->is_copyable && !d->is_lost;
}

bool reading_copy(struct device *d, struct own_queue *queue,
                  const struct buffer *b, size_t from, size_t n, char *ret)
{
    const struct memory *m = handle_map_find(&d->memories, KEY(b->memory));
    const char *bytes = mapping_bytes(d, b);
    if (!m || !bytes)
        return false;
    if (m->is_cached) {
        memcpy(ret, bytes + from, n);
    } else if (!queue || !is_for_gpu(d, m, b, n) ||
               !gpu_copy(d, queue, b, from, n, ret)) {
        copy_uncached(ret, bytes + from, n);
    }
    return true;
}
