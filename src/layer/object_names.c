/* SPDX-License-Identifier: MIT */
#include "object_names.h"

#include <stdlib.h>
#include <string.h>

#include "mapping.h"
#include "modules.h"
#include "settings.h"
#include "submissions.h"

enum {
    NAMES_MAX = 1 << 16, /* of a kind */
};

static const char prefix[] = "pfd:";

static void set_name(struct table *names, uint64_t handle, const char *name)
{
    free(handle_map_take(names, handle));
    char *copy = name && *name && names->n < NAMES_MAX
                     ? strndup(name, NAME_MAX_BYTES - 1)
                     : NULL;
    if (copy && !handle_map_put(names, handle, copy))
        free(copy);
}

static void name_buffer(struct device *d, uint64_t handle, const char *name)
{
    struct buffer *b = handle_map_find(&d->objects.buffers, handle);
    bool is_ours = name && !strncmp(name, prefix, sizeof prefix - 1) &&
                   settings_get()->takes_named;
    if (!b || (!is_ours && !b->name))
        return;
    if (b->name) {
        queue_take_last(d, b);
        free(b->name);
        d->n_named--;
    }
    b->name =
        is_ours ? strndup(name + sizeof prefix - 1, NAME_MAX_BYTES - 1) : NULL;
    d->n_named += b->name != NULL;
    if (b->name && b->memory)
        mapping_hold(d, b);
}

VkResult names_SetDebugUtilsObjectNameEXT(
    VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info)
{
    struct device *d = device_of(device);
    uint64_t handle = info->objectHandle;
    const char *name = info->pObjectName;
    pthread_mutex_lock(&d->lock);
    switch ((int)info->objectType) {
    case VK_OBJECT_TYPE_BUFFER:
        name_buffer(d, handle, name);
        break;
    case VK_OBJECT_TYPE_PIPELINE:
        set_name(&d->names.pipelines, handle, name);
        break;
    case VK_OBJECT_TYPE_COMMAND_BUFFER:
        set_name(&d->names.commands, handle, name);
        break;
    case VK_OBJECT_TYPE_SHADER_MODULE:
        set_name(&d->names.modules, handle, name);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&d->lock);
    return d->next.SetDebugUtilsObjectNameEXT
               ? d->next.SetDebugUtilsObjectNameEXT(device, info)
               : VK_SUCCESS;
}

VkResult names_CreateShaderModule(VkDevice device,
                                  const VkShaderModuleCreateInfo *info,
                                  const VkAllocationCallbacks *allocator,
                                  VkShaderModule *ret)
{
    struct device *d = device_of(device);
    VkResult result = d->next.CreateShaderModule(device, info, allocator, ret);
    if (result == VK_SUCCESS) {
        pthread_mutex_lock(&d->lock);
        free(handle_map_take(&d->names.modules, KEY(*ret)));
        modules_add(d, *ret, info->pCode, info->codeSize);
        pthread_mutex_unlock(&d->lock);
    }
    return result;
}

void names_DestroyShaderModule(VkDevice device, VkShaderModule module,
                               const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    modules_name(d, module);
    free(handle_map_take(&d->names.modules, KEY(module)));
    pthread_mutex_unlock(&d->lock);
    d->next.DestroyShaderModule(device, module, allocator);
}

void names_DestroyPipeline(VkDevice device, VkPipeline pipeline,
                           const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    free(handle_map_take(&d->names.pipelines, KEY(pipeline)));
    pthread_mutex_unlock(&d->lock);
    d->next.DestroyPipeline(device, pipeline, allocator);
}

static void forget(struct table *names)
{
    struct handle_map_slot *slot;
    size_t at = 0;
    while ((slot = handle_map_next(names, &at)))
        free(slot->value);
    handle_map_deinit(names);
}

void names_forget(struct device *d)
{
    forget(&d->names.pipelines);
    forget(&d->names.commands);
    forget(&d->names.modules);
}
