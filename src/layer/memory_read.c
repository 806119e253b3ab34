/* SPDX-License-Identifier: MIT */
#include "memory_read.h"

#include <string.h>

#include "core/base/uncached_copy.h"
#include "gpu_copy.h"
#include "mapping.h"

enum {
    GPU_MIN_BYTES = 64 << 10, /* fewer are read sooner than the device has
                                 begun to copy */
};

static bool is_for_gpu(const struct device *d, const struct memory *m,
                       const struct buffer *b, size_t n)
{
    return n >= GPU_MIN_BYTES && m->is_local && b->is_copyable && !d->is_lost;
}

bool reading_copy(struct device *d, struct own_queue *queue,
                  const struct buffer *b, size_t from, size_t n, char *ret)
{
    const struct memory *m =
        handle_map_find(&d->objects.memories, KEY(b->memory));
    const char *bytes = mapping_bytes(d, b);
    if (!m || !bytes)
        return false;
    if (m->is_cached) {
        memcpy(ret, bytes + from, n);
    } else if (!queue || !is_for_gpu(d, m, b, n) ||
               !gpu_copy(d, queue, b, from, n, ret)) {
        pfd_uncached_copy(ret, bytes + from, n);
    }
    return true;
}
