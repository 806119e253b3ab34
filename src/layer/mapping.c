/* SPDX-License-Identifier: MIT */
#include "mapping.h"

#include <string.h>

#include "log.h"

static bool covers(const struct memory *m, VkDeviceSize from, VkDeviceSize to)
{
    return m->base && m->from <= from && m->to >= to;
}

void mapping_begin(struct device *d, struct memory *m)
{
    void *at = NULL;
    if (m->base || m->by_other)
        return;
    if (d->next.MapMemory(d->handle, m->handle, 0, VK_WHOLE_SIZE, 0, &at) !=
        VK_SUCCESS)
        return;
    m->base = at;
    m->from = 0;
    m->to = m->size;
    m->by_us = true;
}

void mapping_end(struct device *d, struct memory *m)
{
    if (!m->by_us)
        return;
    d->next.UnmapMemory(d->handle, m->handle);
    m->by_us = false;
    m->base = NULL;
}

bool mapping_hold(struct device *d, struct buffer *b)
{
    struct memory *m = handle_map_find(&d->objects.memories, KEY(b->memory));
    if (m) {
        m->is_used = true;
        mapping_begin(d, m);
        if (covers(m, b->offset, b->offset + b->size))
            return true;
    }
    log_once(TELL_UNMAPPABLE,
             "a buffer%s%s lies in memory that the host cannot map: it is "
             "not taken",
             b->name ? " named " : "", b->name ? b->name : "");
    return false;
}

/* The mapped part of memory. */
static VkMappedMemoryRange range_of(const struct memory *m)
{
    return (VkMappedMemoryRange){
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
        .memory = m->handle,
        .offset = m->from,
        .size = m->to == m->size ? VK_WHOLE_SIZE : m->to - m->from,
    };
}

const char *mapping_bytes(struct device *d, const struct buffer *b)
{
    struct memory *m = handle_map_find(&d->objects.memories, KEY(b->memory));
    if (!m || !covers(m, b->offset, b->offset + b->size))
        return NULL;
    if (!m->is_coherent) {
        VkMappedMemoryRange range = range_of(m);
        d->next.InvalidateMappedMemoryRanges(d->handle, 1, &range);
    }
    return m->base + b->offset;
}

void mapping_clear(struct device *d, const struct buffer *b, size_t from,
                   size_t n)
{
    struct memory *m = handle_map_find(&d->objects.memories, KEY(b->memory));
    memset(m->base + b->offset + from, 0, n);
    atomic_thread_fence(memory_order_seq_cst);
    if (!m->is_coherent) {
        VkMappedMemoryRange range = range_of(m);
        d->next.FlushMappedMemoryRanges(d->handle, 1, &range);
    }
}
