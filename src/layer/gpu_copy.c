/* SPDX-License-Identifier: MIT */
#include "gpu_copy.h"

#include <stdlib.h>
#include <string.h>

#include "own_queues.h"

enum {
    PIECE_BYTES = 4 << 20,
    PIECES = 2, /* one is copied while the other is read */
    WAIT_NS = 1000000000,
    SETTLE_NS = 2000000, /* a queue of the program may take to be free */
    NS_PER_BYTE = 2,     /* that the processor takes to read */
    CACHED = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
             VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
             VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
    SLOW = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
           VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
};

/* Objects of a queue, made when it copies first. */
struct copier {
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands[PIECES];
    VkFence fences[PIECES];
    VkBuffer buffer; /* of all pieces, one behind the other */
    VkDeviceMemory memory;
    char *bytes; /* mapped */
    VkBuffer source;
    VkDeviceMemory source_memory;
    bool is_pending[PIECES]; /* its fence was not waited for yet */
    bool is_broken;          /* it failed once, and may still be at work */
};

/* ---- memory types ---- */

/* The first type among `types` with all of these properties; UINT32_MAX: there
 * is none. */
static uint32_t cached_type(const VkPhysicalDeviceMemoryProperties *p,
                            uint32_t types)
{
    for (uint32_t i = 0; i < p->memoryTypeCount; i++) {
        if (types >> i & 1 &&
            (p->memoryTypes[i].propertyFlags & CACHED) == CACHED)
            return i;
    }
    return UINT32_MAX;
}

bool gpu_copy_is_useful(const VkPhysicalDeviceMemoryProperties *types)
{
    bool is_slow = false;
    for (uint32_t i = 0; i < types->memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = types->memoryTypes[i].propertyFlags;
        is_slow |= (flags & SLOW) == SLOW &&
                   !(flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    }
    return is_slow && cached_type(types, UINT32_MAX) != UINT32_MAX;
}

/* ---- objects ---- */

static bool make_memory(struct device *d, struct copier *c)
{
    VkMemoryRequirements needs;
    void *at = NULL;
    VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = (VkDeviceSize)PIECES * PIECE_BYTES,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    if (d->next.CreateBuffer(d->handle, &buffer, NULL, &c->buffer) !=
        VK_SUCCESS)
        return false;
    d->next.GetBufferMemoryRequirements(d->handle, c->buffer, &needs);
    VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = cached_type(&d->memory_types, needs.memoryTypeBits),
    };
    if (memory.memoryTypeIndex == UINT32_MAX ||
        d->next.AllocateMemory(d->handle, &memory, NULL, &c->memory) !=
            VK_SUCCESS ||
        d->next.BindBufferMemory(d->handle, c->buffer, c->memory, 0) !=
            VK_SUCCESS ||
        d->next.MapMemory(d->handle, c->memory, 0, VK_WHOLE_SIZE, 0, &at) !=
            VK_SUCCESS)
        return false;
    c->bytes = at;
    return true;
}

static bool make_commands(struct device *d, struct copier *c, uint32_t family)
{
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = family,
    };
    VkFenceCreateInfo fence = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
    };
    if (d->next.CreateCommandPool(d->handle, &pool, NULL, &c->pool) !=
        VK_SUCCESS)
        return false;
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = c->pool,
        .commandBufferCount = PIECES,
    };
    if (d->next.AllocateCommandBuffers(d->handle, &commands, c->commands) !=
        VK_SUCCESS)
        return false;
    for (size_t i = 0; i < PIECES; i++) {
        if (d->set_loader_data(d->handle, c->commands[i]) != VK_SUCCESS ||
            d->next.CreateFence(d->handle, &fence, NULL, &c->fences[i]) !=
                VK_SUCCESS)
            return false;
    }
    return true;
}

static bool get_queue(struct device *d, const struct own_queue *queue,
                      struct copier *c)
{
    c->queue = queue->shared;
    if (c->queue)
        return true;
    d->next.GetDeviceQueue(d->handle, queue->family, queue->index, &c->queue);
    return d->set_loader_data(d->handle, c->queue) == VK_SUCCESS;
}

static struct copier *copier_of(struct device *d, struct own_queue *queue)
{
    struct copier *c = queue->copier;
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    queue->copier = c;
    c->is_broken = !get_queue(d, queue, c) || !make_memory(d, c) ||
                   !make_commands(d, c, queue->family);
    return c;
}

static void free_copier(struct device *d, struct copier *c)
{
    for (size_t i = 0; i < PIECES; i++)
        d->next.DestroyFence(d->handle, c->fences[i], NULL);
    d->next.DestroyCommandPool(d->handle, c->pool, NULL);
    d->next.DestroyBuffer(d->handle, c->buffer, NULL);
    d->next.FreeMemory(d->handle, c->memory, NULL);
    free(c);
}

void gpu_copy_forget(struct device *d)
{
    for (size_t i = 0; i < d->own_queues.n; i++) {
        struct copier *c = d->own_queues.at[i].copier;
        if (!c)
            continue;
        if (c->is_broken && c->queue)
            d->next.QueueWaitIdle(c->queue);
        free_copier(d, c);
    }
}

/* ---- copies ---- */

/* What the device has written becomes visible to the copy, and what the copy
 * writes to the host. */
static void record(struct device *d, VkCommandBuffer commands, VkBuffer from,
                   VkBuffer to, const VkBufferCopy *region)
{
    VkMemoryBarrier before = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
    };
    VkMemoryBarrier behind = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    d->next.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                               VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &before, 0,
                               NULL, 0, NULL);
    d->next.CmdCopyBuffer(commands, from, to, 1, region);
    d->next.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                               VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &behind, 0,
                               NULL, 0, NULL);
}

static bool begin_piece(struct device *d, struct copier *c,
                        const struct buffer *b, size_t piece, size_t from,
                        size_t n)
{
    VkCommandBuffer commands = c->commands[piece];
    VkBufferCopy region = { from, piece * PIECE_BYTES, n };
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    if (d->next.BeginCommandBuffer(commands, &begin) != VK_SUCCESS)
        return false;
    record(d, commands, b->handle, c->buffer, &region);
    c->is_pending[piece] = d->next.EndCommandBuffer(commands) == VK_SUCCESS &&
                           d->next.QueueSubmit(c->queue, 1, &submit,
                                               c->fences[piece]) == VK_SUCCESS;
    return c->is_pending[piece];
}

static bool end_piece(struct device *d, struct copier *c, size_t piece,
                      size_t n, char *ret)
{
    VkFence *fence = &c->fences[piece];
    if (d->next.WaitForFences(d->handle, 1, fence, VK_TRUE, WAIT_NS) !=
        VK_SUCCESS)
        return false;
    c->is_pending[piece] = false;
    if (d->next.ResetFences(d->handle, 1, fence) != VK_SUCCESS)
        return false;
    memcpy(ret, c->bytes + piece * PIECE_BYTES, n);
    return true;
}

static size_t piece_size(size_t n, size_t at)
{
    return n - at < PIECE_BYTES ? n - at : PIECE_BYTES;
}

static bool copy(struct device *d, struct copier *c, const struct buffer *b,
                 size_t from, size_t n, char *ret)
{
    c->source = b->handle;
    c->source_memory = b->memory;
    bool ok = begin_piece(d, c, b, 0, from, piece_size(n, 0));
    size_t piece = 0;
    for (size_t at = 0; ok && at < n; at += PIECE_BYTES) {
        size_t next = at + PIECE_BYTES;
        if (next < n) {
            ok = begin_piece(d, c, b, !piece, from + next, piece_size(n, next));
        }
        ok = ok && end_piece(d, c, piece, piece_size(n, at), ret + at);
        piece = !piece;
    }
    return ok;
}

bool gpu_copy(struct device *d, struct own_queue *queue, const struct buffer *b,
              size_t from, size_t n, char *ret)
{
    uint64_t ns = (uint64_t)n * NS_PER_BYTE;
    if (pthread_mutex_trylock(&d->own_queues.lock))
        return false;
    struct copier *c =
        own_queue_is_free(d, queue, ns < SETTLE_NS ? ns : SETTLE_NS)
            ? copier_of(d, queue)
            : NULL;
    bool ok = c && !c->is_broken && copy(d, c, b, from, n, ret);
    if (c)
        c->is_broken = !ok;
    pthread_mutex_unlock(&d->own_queues.lock);
    return ok;
}

static void wait_for_pieces(struct device *d, struct copier *c)
{
    for (size_t i = 0; i < PIECES; i++) {
        if (c->is_pending[i]) {
            d->next.WaitForFences(d->handle, 1, &c->fences[i], VK_TRUE,
                                  UINT64_MAX);
        }
        c->is_pending[i] = false;
    }
}

void gpu_copy_settle(struct device *d, VkBuffer buffer, VkDeviceMemory memory)
{
    for (size_t i = 0; i < d->own_queues.n; i++) {
        struct copier *c = d->own_queues.at[i].copier;
        if (c && c->is_broken &&
            ((buffer && c->source == buffer) ||
             (memory && c->source_memory == memory)))
            wait_for_pieces(d, c);
    }
}

void gpu_copy_suspend(struct device *d)
{
    pthread_mutex_lock(&d->own_queues.lock);
}

void gpu_copy_resume(struct device *d)
{
    pthread_mutex_unlock(&d->own_queues.lock);
}
