/* SPDX-License-Identifier: MIT */
#include "command_buffers.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "mapping.h"
#include "settings.h"
#include "validation.h"

enum {
    SETS_MAX = 1 << 16, /* limit of tracked sets */
    /* The usage of validation's own buffers, at most. */
    OWN_USAGE = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                VK_BUFFER_USAGE_TRANSFER_DST_BIT,
};

/* ---- uses ---- */

bool uses_add(struct uses *uses, const struct use *more, size_t n)
{
    if (!uses->at || n > uses->room - uses->n) {
        size_t room = (uses->n + n) * 2;
        struct use *at = realloc(uses->at, room * sizeof *at);
        if (!at) {
            log_once(TELL_MEMORY, "out of memory: something is missing");
            return false;
        }
        uses->at = at;
        uses->room = room;
    }
    if (n)
        memcpy(uses->at + uses->n, more, n * sizeof *more);
    uses->n += n;
    return true;
}

void uses_free(struct uses *uses)
{
    free(uses->at);
    *uses = (struct uses){ 0 };
}

/* ---- descriptor sets ---- */

/* Can it be one of validation's buffers, which only validation writes? */
static bool may_be_theirs(const struct buffer *b)
{
    return b && b->usage & VK_BUFFER_USAGE_STORAGE_BUFFER_BIT &&
           !(b->usage & ~(VkBufferUsageFlags)OWN_USAGE);
}

static void forget_sets(struct device *d)
{
    struct handle_map_slot *slot;
    size_t at = 0;
    while ((slot = handle_map_next(&d->objects.sets, &at)))
        free(slot->value);
    handle_map_deinit(&d->objects.sets);
}

/* The record of a set, made on demand. Records of sets in a reset pool remain;
 * validation writes its sets right before it binds them, so at the limit all
 * records may be dropped. */
static struct set *set_of(struct device *d, VkDescriptorSet handle)
{
    struct set *set = handle_map_find(&d->objects.sets, KEY(handle));
    if (set)
        return set;
    if (d->objects.sets.n == SETS_MAX)
        forget_sets(d);
    set = calloc(1, sizeof *set);
    d->has_sets = true;
    if (set && !handle_map_put(&d->objects.sets, KEY(handle), set)) {
        free(set);
        set = NULL;
    }
    return set;
}

static void note_write(struct device *d, const VkWriteDescriptorSet *w)
{
    if (w->descriptorType != VK_DESCRIPTOR_TYPE_STORAGE_BUFFER ||
        w->dstBinding >= BINDINGS_MAX || w->dstArrayElement ||
        w->descriptorCount != 1)
        return;
    VkBuffer buffer = w->pBufferInfo->buffer;
    struct set *set = handle_map_find(&d->objects.sets, KEY(w->dstSet));
    if (may_be_theirs(handle_map_find(&d->objects.buffers, KEY(buffer)))) {
        set = set_of(d, w->dstSet);
    } else {
        buffer = VK_NULL_HANDLE;
    }
    if (set)
        set->buffers[w->dstBinding] = buffer;
}

void command_UpdateDescriptorSets(VkDevice device, uint32_t n_writes,
                                  const VkWriteDescriptorSet *writes,
                                  uint32_t n_copies,
                                  const VkCopyDescriptorSet *copies)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < n_writes; i++)
        note_write(d, &writes[i]);
    pthread_mutex_unlock(&d->lock);
    d->next.UpdateDescriptorSets(device, n_writes, writes, n_copies, copies);
}

VkResult command_FreeDescriptorSets(VkDevice device, VkDescriptorPool pool,
                                    uint32_t n, const VkDescriptorSet *sets)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < n; i++)
        free(handle_map_take(&d->objects.sets, KEY(sets[i])));
    pthread_mutex_unlock(&d->lock);
    return d->next.FreeDescriptorSets(device, pool, n, sets);
}

/* ---- command buffers ---- */

static struct command *find(const struct device *d, VkCommandBuffer commands)
{
    return handle_map_find(&d->objects.commands, KEY(commands));
}

const struct command *command_find(const struct device *d,
                                   VkCommandBuffer commands)
{
    return find(d, commands);
}

static void reset(struct command *c)
{
    if (!c)
        return;
    c->uses.n = 0;
    c->errors = 0;
    c->renewed.n = 0;
    memset(c->pipeline, 0, sizeof c->pipeline);
    memset(c->n_actions, 0, sizeof c->n_actions);
}

static void forget(struct device *d, VkCommandBuffer commands)
{
    struct command *c = handle_map_take(&d->objects.commands, KEY(commands));
    free(handle_map_take(&d->names.commands, KEY(commands)));
    if (c) {
        uses_free(&c->uses);
        uses_free(&c->renewed);
        free(c);
    }
}

VkResult command_AllocateCommandBuffers(VkDevice device,
                                        const VkCommandBufferAllocateInfo *info,
                                        VkCommandBuffer *ret)
{
    struct device *d = device_of(device);
    VkResult result = d->next.AllocateCommandBuffers(device, info, ret);
    if (result != VK_SUCCESS)
        return result;
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        forget(d, ret[i]);
        struct command *c = calloc(1, sizeof *c);
        if (c)
            c->pool = info->commandPool;
        if (c && !handle_map_put(&d->objects.commands, KEY(ret[i]), c))
            free(c);
    }
    pthread_mutex_unlock(&d->lock);
    return result;
}

void command_FreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t n,
                                const VkCommandBuffer *commands)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < n; i++)
        forget(d, commands[i]);
    pthread_mutex_unlock(&d->lock);
    d->next.FreeCommandBuffers(device, pool, n, commands);
}

VkResult command_ResetCommandPool(VkDevice device, VkCommandPool pool,
                                  VkCommandPoolResetFlags flags)
{
    struct device *d = device_of(device);
    struct handle_map_slot *slot;
    size_t at = 0;
    pthread_mutex_lock(&d->lock);
    while ((slot = handle_map_next(&d->objects.commands, &at))) {
        struct command *c = slot->value;
        if (c->pool == pool)
            reset(c);
    }
    pthread_mutex_unlock(&d->lock);
    return d->next.ResetCommandPool(device, pool, flags);
}

/* Restarts the walk after each removal: a table must not change during a
 * walk. */
static void forget_pool(struct device *d, VkCommandPool pool)
{
    struct handle_map_slot *slot;
    size_t at = 0;
    while ((slot = handle_map_next(&d->objects.commands, &at))) {
        struct command *c = slot->value;
        if (c->pool == pool) {
            forget(d, (VkCommandBuffer)(uintptr_t)slot->key);
            at = 0;
        }
    }
}

void command_DestroyCommandPool(VkDevice device, VkCommandPool pool,
                                const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    forget_pool(d, pool);
    pthread_mutex_unlock(&d->lock);
    d->next.DestroyCommandPool(device, pool, allocator);
}

VkResult command_BeginCommandBuffer(VkCommandBuffer commands,
                                    const VkCommandBufferBeginInfo *info)
{
    struct device *d = device_of(commands);
    pthread_mutex_lock(&d->lock);
    reset(find(d, commands));
    pthread_mutex_unlock(&d->lock);
    return d->next.BeginCommandBuffer(commands, info);
}

VkResult command_ResetCommandBuffer(VkCommandBuffer commands,
                                    VkCommandBufferResetFlags flags)
{
    struct device *d = device_of(commands);
    pthread_mutex_lock(&d->lock);
    reset(find(d, commands));
    pthread_mutex_unlock(&d->lock);
    return d->next.ResetCommandBuffer(commands, flags);
}

void command_CmdExecuteCommands(VkCommandBuffer commands, uint32_t n,
                                const VkCommandBuffer *secondary)
{
    struct device *d = device_of(commands);
    pthread_mutex_lock(&d->lock);
    struct command *c = find(d, commands);
    for (uint32_t i = 0; c && i < n; i++) {
        const struct command *s = find(d, secondary[i]);
        if (s) {
            uses_add(&c->uses, s->uses.at, s->uses.n);
            uses_add(&c->renewed, s->renewed.at, s->renewed.n);
        }
    }
    pthread_mutex_unlock(&d->lock);
    d->next.CmdExecuteCommands(commands, n, secondary);
}

/* ---- recording ---- */

/* The index of a bind point; POINTS: an unknown one. */
static unsigned point_of(VkPipelineBindPoint point)
{
    return point == VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR ? 2
           : (unsigned)point < 2                           ? (unsigned)point
                                                           : POINTS;
}

void command_CmdBindPipeline(VkCommandBuffer commands,
                             VkPipelineBindPoint point, VkPipeline pipeline)
{
    struct device *d = device_of(commands);
    unsigned i = point_of(point);
    if (i < POINTS && d->is_instrumented) {
        pthread_mutex_lock(&d->lock);
        struct command *c = find(d, commands);
        if (c)
            c->pipeline[i] = pipeline;
        pthread_mutex_unlock(&d->lock);
    }
    d->next.CmdBindPipeline(commands, point, pipeline);
}

/* The contents of the buffer at this set and binding. */
static enum contents contents_of(const struct device *d, uint32_t set,
                                 uint32_t binding, const struct buffer *b)
{
    for (size_t i = 0; i < d->validation.n_output_bindings; i++) {
        if (d->validation.output_bindings[i].set == set &&
            d->validation.output_bindings[i].binding == binding)
            return d->validation.output_bindings[i].contents;
    }
    uint32_t version = d->instance->validation;
    if (set == d->reserved_set)
        return validation_binding(version, binding);
    if (!set && !binding && validation_is_errors_size(version, b->size))
        return CONTENTS_GPUAV;
    return CONTENTS_UNKNOWN;
}

static bool is_taken(enum contents contents)
{
    const struct settings *s = settings_get();
    return (contents == CONTENTS_DEBUGPRINTF && s->takes_debugprintf) ||
           (contents == CONTENTS_GPUAV && s->takes_gpuav);
}

/* Notes a use. A buffer for errors serves all actions of a command buffer, so
 * it is assigned to a pipeline only while there is just one. */
static void note_use(struct device *d, struct command *c, const struct use *use)
{
    bool is_errors = use->contents == CONTENTS_GPUAV;
    struct use *last =
        is_errors && c->errors ? &c->uses.at[c->errors - 1] : NULL;
    d->validation.knows_errors |= is_errors;
    if (!last || last->serial != use->serial) {
        if (uses_add(&c->uses, use, 1) && is_errors)
            c->errors = c->uses.n;
    } else if (!use->is_before && last->is_before) {
        *last = *use;
    } else if (!use->is_before && last->pipeline != use->pipeline) {
        last->pipeline = VK_NULL_HANDLE;
    }
}

static void note_set(struct device *d, struct command *c,
                     VkCommandBuffer commands, VkPipelineBindPoint point,
                     uint32_t number, const struct set *set)
{
    unsigned i = point_of(point);
    bool is_theirs = false;
    for (uint32_t binding = 0; binding < BINDINGS_MAX; binding++) {
        struct buffer *b =
            handle_map_find(&d->objects.buffers, KEY(set->buffers[binding]));
        enum contents contents =
            b ? contents_of(d, number, binding, b) : CONTENTS_UNKNOWN;
        if (!is_taken(contents))
            continue;
        struct use use = { .buffer = b->handle,
                           .serial = b->serial,
                           .contents = contents,
                           .command = commands,
                           .point = point };
        use.is_before = contents == CONTENTS_GPUAV && !number;
        if (!use.is_before) {
            use.pipeline = c->pipeline[i];
            use.index = c->n_actions[i];
            is_theirs = true;
        }
        if (mapping_hold(d, b))
            note_use(d, c, &use);
    }
    c->n_actions[i] += is_theirs;
}

static void note_sets(struct device *d, VkCommandBuffer commands,
                      VkPipelineBindPoint point, uint32_t first, uint32_t n,
                      const VkDescriptorSet *sets)
{
    struct command *c = find(d, commands);
    for (uint32_t i = 0; c && i < n; i++) {
        const struct set *set = handle_map_find(&d->objects.sets, KEY(sets[i]));
        if (set)
            note_set(d, c, commands, point, first + i, set);
    }
}

void command_CmdBindDescriptorSets(VkCommandBuffer commands,
                                   VkPipelineBindPoint point,
                                   VkPipelineLayout layout, uint32_t first,
                                   uint32_t n, const VkDescriptorSet *sets,
                                   uint32_t n_offsets, const uint32_t *offsets)
{
    struct device *d = device_of(commands);
    if (point_of(point) < POINTS && d->has_sets) {
        pthread_mutex_lock(&d->lock);
        note_sets(d, commands, point, first, n, sets);
        pthread_mutex_unlock(&d->lock);
    }
    d->next.CmdBindDescriptorSets(commands, point, layout, first, n, sets,
                                  n_offsets, offsets);
}

/* A fill, update or copy restarts a named buffer. */
static void note_fill(struct device *d, VkCommandBuffer commands,
                      VkBuffer buffer)
{
    pthread_mutex_lock(&d->lock);
    struct command *c = find(d, commands);
    const struct buffer *b =
        d->n_named ? handle_map_find(&d->objects.buffers, KEY(buffer)) : NULL;
    if (c && b && b->name) {
        struct use use = { .buffer = buffer, .serial = b->serial };
        uses_add(&c->renewed, &use, 1);
    }
    pthread_mutex_unlock(&d->lock);
}

void command_CmdFillBuffer(VkCommandBuffer commands, VkBuffer buffer,
                           VkDeviceSize offset, VkDeviceSize size,
                           uint32_t value)
{
    struct device *d = device_of(commands);
    note_fill(d, commands, buffer);
    d->next.CmdFillBuffer(commands, buffer, offset, size, value);
}

void command_CmdUpdateBuffer(VkCommandBuffer commands, VkBuffer buffer,
                             VkDeviceSize offset, VkDeviceSize size,
                             const void *bytes)
{
    struct device *d = device_of(commands);
    note_fill(d, commands, buffer);
    d->next.CmdUpdateBuffer(commands, buffer, offset, size, bytes);
}

void command_CmdCopyBuffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                           uint32_t n, const VkBufferCopy *regions)
{
    struct device *d = device_of(commands);
    note_fill(d, commands, to);
    d->next.CmdCopyBuffer(commands, from, to, n, regions);
}

void command_CmdCopyBuffer2(VkCommandBuffer commands,
                            const VkCopyBufferInfo2 *info)
{
    struct device *d = device_of(commands);
    note_fill(d, commands, info->dstBuffer);
    d->next.CmdCopyBuffer2(commands, info);
}

void command_forget(struct device *d)
{
    struct handle_map_slot *slot;
    size_t at = 0;
    forget_sets(d);
    while ((slot = handle_map_next(&d->objects.commands, &at))) {
        struct command *c = slot->value;
        uses_free(&c->uses);
        uses_free(&c->renewed);
        free(c);
    }
    handle_map_deinit(&d->objects.commands);
}
