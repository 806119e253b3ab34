/* SPDX-License-Identifier: MIT */
#include "device_memory.h"

#include <stdlib.h>

#include "gpu_copy.h"
#include "mapping.h"
#include "submissions.h"

/* ---- mappings ---- */

/* Returns the address of a caller's mapping inside of ours. */
static bool map_again(struct memory *m, VkDeviceSize offset, void **ret)
{
    if (!m || !m->by_us)
        return false;
    m->by_other = true;
    *ret = m->base + offset;
    return true;
}

static void note_mapped(struct device *d, VkDeviceMemory memory,
                        VkDeviceSize offset, VkDeviceSize size, void *at)
{
    struct memory *m = handle_map_find(&d->objects.memories, KEY(memory));
    if (!m)
        return;
    m->by_other = true;
    m->base = (char *)at - offset;
    m->from = offset;
    m->to = size == VK_WHOLE_SIZE ? m->size : offset + size;
}

VkResult memory_MapMemory(VkDevice device, VkDeviceMemory memory,
                          VkDeviceSize offset, VkDeviceSize size,
                          VkMemoryMapFlags flags, void **ret)
{
    struct device *d = device_of(device);
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&d->lock);
    if (!map_again(handle_map_find(&d->objects.memories, KEY(memory)), offset,
                   ret)) {
        result = d->next.MapMemory(device, memory, offset, size, flags, ret);
        if (result == VK_SUCCESS)
            note_mapped(d, memory, offset, size, *ret);
    }
    pthread_mutex_unlock(&d->lock);
    return result;
}

/* With flags or extensions, such as a fixed address, the mapping has to be
 * real. */
VkResult memory_MapMemory2KHR(VkDevice device, const VkMemoryMapInfoKHR *info,
                              void **ret)
{
    struct device *d = device_of(device);
    VkResult result = VK_SUCCESS;
    bool is_plain = !info->pNext && !info->flags;
    pthread_mutex_lock(&d->lock);
    struct memory *m = handle_map_find(&d->objects.memories, KEY(info->memory));
    if (m && !is_plain)
        mapping_end(d, m);
    if (!is_plain || !map_again(m, info->offset, ret)) {
        result = d->next.MapMemory2KHR(device, info, ret);
        if (result == VK_SUCCESS)
            note_mapped(d, info->memory, info->offset, info->size, *ret);
    }
    pthread_mutex_unlock(&d->lock);
    return result;
}

/* Ends a caller's mapping. True: the real one is ours, and stays. */
static bool end_mapping(struct memory *m)
{
    if (!m)
        return false;
    m->by_other = false;
    if (m->by_us)
        return true;
    m->base = NULL;
    return false;
}

void memory_UnmapMemory(VkDevice device, VkDeviceMemory memory)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    struct memory *m = handle_map_find(&d->objects.memories, KEY(memory));
    if (!end_mapping(m)) {
        d->next.UnmapMemory(device, memory);
        if (m && m->is_used)
            mapping_begin(d, m);
    }
    pthread_mutex_unlock(&d->lock);
}

VkResult memory_UnmapMemory2KHR(VkDevice device,
                                const VkMemoryUnmapInfoKHR *info)
{
    struct device *d = device_of(device);
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&d->lock);
    struct memory *m = handle_map_find(&d->objects.memories, KEY(info->memory));
    if (!end_mapping(m)) {
        result = d->next.UnmapMemory2KHR(device, info);
        if (m && m->is_used && result == VK_SUCCESS)
            mapping_begin(d, m);
    }
    pthread_mutex_unlock(&d->lock);
    return result;
}

/* ---- memory ---- */

VkResult memory_AllocateMemory(VkDevice device,
                               const VkMemoryAllocateInfo *info,
                               const VkAllocationCallbacks *allocator,
                               VkDeviceMemory *ret)
{
    struct device *d = device_of(device);
    VkResult result = d->next.AllocateMemory(device, info, allocator, ret);
    VkMemoryPropertyFlags flags =
        d->memory_types.memoryTypes[info->memoryTypeIndex].propertyFlags;
    if (result != VK_SUCCESS || !(flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
        return result;
    struct memory *m = calloc(1, sizeof *m);
    if (!m)
        return result;
    m->handle = *ret;
    m->size = info->allocationSize;
    m->is_coherent = flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    m->is_cached = flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    m->is_local = flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    pthread_mutex_lock(&d->lock);
    free(handle_map_take(&d->objects.memories, KEY(*ret)));
    if (!handle_map_put(&d->objects.memories, KEY(*ret), m))
        free(m);
    pthread_mutex_unlock(&d->lock);
    return result;
}

/* Freeing also unmaps. */
void memory_FreeMemory(VkDevice device, VkDeviceMemory memory,
                       const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    struct memory *m = handle_map_find(&d->objects.memories, KEY(memory));
    if (m && m->is_used)
        queue_take_memory(d, memory);
    free(handle_map_take(&d->objects.memories, KEY(memory)));
    gpu_copy_settle(d, VK_NULL_HANDLE, memory);
    pthread_mutex_unlock(&d->lock);
    d->next.FreeMemory(device, memory, allocator);
}

/* ---- buffers ---- */

/* May the device copy from such a buffer, or be allowed to? What an extension
 * says of a buffer is not changed. */
static bool may_copy(const struct device *d, const VkBufferCreateInfo *info)
{
    VkBufferCreateFlags kept =
        VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_PROTECTED_BIT;
    return (d->own_queues.n || d->own_queues.sharing) && !info->pNext &&
           !(info->flags & kept) &&
           info->usage & VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
}

static VkBufferCreateInfo with_copies(const struct device *d,
                                      const VkBufferCreateInfo *info)
{
    VkBufferCreateInfo ret = *info;
    if (may_copy(d, info))
        ret.usage |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    return ret;
}

VkResult memory_CreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                             const VkAllocationCallbacks *allocator,
                             VkBuffer *ret)
{
    struct device *d = device_of(device);
    VkBufferCreateInfo more = with_copies(d, info);
    VkResult result = d->next.CreateBuffer(device, &more, allocator, ret);
    struct buffer *b =
        result == VK_SUCCESS &&
                !(info->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT)
            ? calloc(1, sizeof *b)
            : NULL;
    if (!b)
        return result;
    b->handle = *ret;
    b->size = info->size;
    b->usage = info->usage;
    b->is_copyable = may_copy(d, info);
    pthread_mutex_lock(&d->lock);
    b->serial = ++d->serial;
    if (!handle_map_put(&d->objects.buffers, KEY(*ret), b))
        free(b);
    pthread_mutex_unlock(&d->lock);
    return result;
}

/* The answer has to be for the buffer that will be created. */
void memory_GetDeviceBufferMemoryRequirements(
    VkDevice device, const VkDeviceBufferMemoryRequirements *info,
    VkMemoryRequirements2 *ret)
{
    struct device *d = device_of(device);
    VkBufferCreateInfo buffer = with_copies(d, info->pCreateInfo);
    VkDeviceBufferMemoryRequirements more = *info;
    more.pCreateInfo = &buffer;
    d->next.GetDeviceBufferMemoryRequirements(device, &more, ret);
}

static void free_buffer(struct buffer *b)
{
    free(b->last_sent.bytes);
    free(b->name);
    free(b);
}

void memory_DestroyBuffer(VkDevice device, VkBuffer buffer,
                          const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    struct buffer *b = handle_map_find(&d->objects.buffers, KEY(buffer));
    if (b) {
        queue_take_last(d, b);
        d->n_named -= b->name != NULL;
        handle_map_take(&d->objects.buffers, KEY(buffer));
        free_buffer(b);
    }
    gpu_copy_settle(d, buffer, VK_NULL_HANDLE);
    pthread_mutex_unlock(&d->lock);
    d->next.DestroyBuffer(device, buffer, allocator);
}

static void bind(struct device *d, VkBuffer buffer, VkDeviceMemory memory,
                 VkDeviceSize offset)
{
    struct buffer *b = handle_map_find(&d->objects.buffers, KEY(buffer));
    if (!b)
        return;
    b->memory = memory;
    b->offset = offset;
    if (b->name)
        mapping_hold(d, b);
}

VkResult memory_BindBufferMemory(VkDevice device, VkBuffer buffer,
                                 VkDeviceMemory memory, VkDeviceSize offset)
{
    struct device *d = device_of(device);
    VkResult result = d->next.BindBufferMemory(device, buffer, memory, offset);
    if (result == VK_SUCCESS) {
        pthread_mutex_lock(&d->lock);
        bind(d, buffer, memory, offset);
        pthread_mutex_unlock(&d->lock);
    }
    return result;
}

VkResult memory_BindBufferMemory2(VkDevice device, uint32_t n,
                                  const VkBindBufferMemoryInfo *infos)
{
    struct device *d = device_of(device);
    VkResult result = d->next.BindBufferMemory2(device, n, infos);
    if (result == VK_SUCCESS) {
        pthread_mutex_lock(&d->lock);
        for (uint32_t i = 0; i < n; i++)
            bind(d, infos[i].buffer, infos[i].memory, infos[i].memoryOffset);
        pthread_mutex_unlock(&d->lock);
    }
    return result;
}

void memory_forget(struct device *d)
{
    struct handle_map_slot *slot;
    size_t at = 0;
    while ((slot = handle_map_next(&d->objects.buffers, &at)))
        free_buffer(slot->value);
    at = 0;
    while ((slot = handle_map_next(&d->objects.memories, &at)))
        free(slot->value);
    handle_map_deinit(&d->objects.buffers);
    handle_map_deinit(&d->objects.memories);
}
