/* SPDX-License-Identifier: MIT */
/*
 * VK_LAYER_PFD_capture: takes the output of shaders, below the validation
 * layer. This file is the interface to the loader: the calls that create and
 * destroy a chain, and the table of the layer's functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_buffers.h"
#include "device.h"
#include "device_memory.h"
#include "gpu_copy.h"
#include "loader.h"
#include "log.h"
#include "messengers.h"
#include "modules.h"
#include "object_names.h"
#include "own_queues.h"
#include "settings.h"
#include "submissions.h"
#include "take_buffer.h"
#include "validation.h"

enum {
    INTERFACE_VERSION = 2,
    SETS_ADJUSTED_MAX = 33, /* validation takes the last one of them */
};

static const char layer_name[] = "VK_LAYER_PFD_capture";

/* ---- layers above and below ---- */

static bool is_validated(const VkLayerInstanceLink *below)
{
    bool is_loaded = validation_is_loaded();
    for (; below; below = below->pNext) {
        if (validation_has(below->pfnNextGetInstanceProcAddr)) {
            log_once(TELL_ORDER,
                     "wrong order: validation is below, and its buffers "
                     "cannot be seen. VK_INSTANCE_LAYERS="
                     "VK_LAYER_PFD_debug_printf has both in the right order, "
                     "whatever the loader (until 1.3.239 it takes single "
                     "layers in the order of their files) and also where the "
                     "application enables validation itself");
            return false;
        }
    }
    if (!is_loaded &&
        (settings_get()->takes_debugprintf || settings_get()->takes_gpuav)) {
        log_once(TELL_NO_VALIDATION,
                 "the validation layer is not there: only buffers that are "
                 "named pfd:NAME are taken");
    }
    return is_loaded;
}

/* ---- instances ---- */

static VKAPI_ATTR VkResult VKAPI_CALL
layer_CreateInstance(const VkInstanceCreateInfo *info,
                     const VkAllocationCallbacks *allocator, VkInstance *ret)
{
    VkLayerInstanceCreateInfo *link =
        loader_find(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
                    VK_LAYER_LINK_INFO);
    if (!link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr next =
        link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)next(NULL, "vkCreateInstance");
    struct instance *i = calloc(1, sizeof *i);
    if (!create || !i) {
        free(i);
        return create ? VK_ERROR_OUT_OF_HOST_MEMORY
                      : VK_ERROR_INITIALIZATION_FAILED;
    }
    i->is_validated = is_validated(link->u.pLayerInfo);
    i->validation = validation_version();
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result = create(info, allocator, ret);
    if (result != VK_SUCCESS) {
        free(i);
        return result;
    }
    i->handle = *ret;
    i->has_debug_utils = loader_has_debug_utils(info);
    i->GetInstanceProcAddr = next;
    i->DestroyInstance = (PFN_vkDestroyInstance)next(*ret, "vkDestroyInstance");
    messengers_note(i, info);
    instance_add(i);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL layer_DestroyInstance(
    VkInstance instance, const VkAllocationCallbacks *allocator)
{
    struct instance *i = instance ? instance_of(instance) : NULL;
    if (!i)
        return;
    PFN_vkDestroyInstance destroy = i->DestroyInstance;
    instance_remove(i);
    destroy(instance, allocator);
}

/* ---- devices ---- */

static VkPhysicalDeviceMemoryProperties memory_types_of(
    const struct instance *i, VkPhysicalDevice physical)
{
    VkPhysicalDeviceMemoryProperties ret;
    PFN_vkGetPhysicalDeviceMemoryProperties get =
        (PFN_vkGetPhysicalDeviceMemoryProperties)i->GetInstanceProcAddr(
            i->handle, "vkGetPhysicalDeviceMemoryProperties");
    get(physical, &ret);
    return ret;
}

static void describe(struct device *d, VkPhysicalDevice physical)
{
    VkPhysicalDeviceProperties properties;
    PFN_vkGetPhysicalDeviceProperties get =
        (PFN_vkGetPhysicalDeviceProperties)d->instance->GetInstanceProcAddr(
            d->instance->handle, "vkGetPhysicalDeviceProperties");
    get(physical, &properties);
    d->memory_types = memory_types_of(d->instance, physical);
    uint32_t n_sets = properties.limits.maxBoundDescriptorSets;
    d->reserved_set =
        (n_sets < SETS_ADJUSTED_MAX ? n_sets : SETS_ADJUSTED_MAX) - 1;
    snprintf(d->name, sizeof d->name, "%s", properties.deviceName);
    d->is_validated = d->instance->is_validated;
}

/* Adds queues of the layer's own to a request, where they are of use. */
static PFN_vkSetDeviceLoaderData request_queues(const struct instance *i,
                                                VkPhysicalDevice physical,
                                                const VkDeviceCreateInfo *info,
                                                struct own_request *ret)
{
    const VkLayerDeviceCreateInfo *callback =
        loader_find(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                    VK_LOADER_DATA_CALLBACK);
    VkPhysicalDeviceMemoryProperties types = memory_types_of(i, physical);
    *ret = (struct own_request){ .info = *info };
    if (!callback || settings_get()->is_copied_by_cpu ||
        !gpu_copy_is_useful(&types))
        return NULL;
    own_queues_request(i, physical, info, ret);
    return callback->u.pfnSetDeviceLoaderData;
}

static VKAPI_ATTR VkResult VKAPI_CALL
layer_CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                   const VkAllocationCallbacks *allocator, VkDevice *ret)
{
    struct own_request request;
    VkLayerDeviceCreateInfo *link =
        loader_find(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                    VK_LAYER_LINK_INFO);
    struct instance *i = instance_of(physical);
    if (!i || !link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr next_instance =
        link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkGetDeviceProcAddr next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)next_instance(i->handle, "vkCreateDevice");
    if (!create)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkLayerDeviceLink *below = link->u.pLayerInfo->pNext;
    PFN_vkSetDeviceLoaderData set_loader_data =
        request_queues(i, physical, info, &request);
    link->u.pLayerInfo = below;
    VkResult result = create(physical, &request.info, allocator, ret);
    if (result != VK_SUCCESS && request.n) {
        request.info = *info;
        request.n = 0;
        link->u.pLayerInfo = below;
        result = create(physical, info, allocator, ret);
    }
    if (result != VK_SUCCESS)
        return result;
    struct device *d = device_new(i, *ret, next);
    if (!d) {
        PFN_vkDestroyDevice destroy =
            (PFN_vkDestroyDevice)next(*ret, "vkDestroyDevice");
        destroy(*ret, allocator);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    describe(d, physical);
    own_queues_note(d, &request, set_loader_data);
    device_add(d);
    return VK_SUCCESS;
}

static const struct device_end ends[] = {
    { queue_finish_all, NULL },  { take_end, NULL },
    { take_report, NULL },       { NULL, gpu_copy_forget },
    { NULL, own_queues_forget }, { NULL, command_forget },
    { NULL, memory_forget },     { NULL, names_forget },
    { NULL, modules_free },
};

static VKAPI_ATTR void VKAPI_CALL
layer_DestroyDevice(VkDevice device, const VkAllocationCallbacks *allocator)
{
    struct device *d = device ? device_of(device) : NULL;
    if (!d)
        return;
    PFN_vkDestroyDevice destroy = d->next.DestroyDevice;
    device_remove(d, ends, sizeof ends / sizeof *ends);
    destroy(device, allocator);
}

/* ---- enumeration ---- */

static VkResult count_none(const char *name, uint32_t *n)
{
    if (!name || strcmp(name, layer_name) != 0)
        return VK_ERROR_LAYER_NOT_PRESENT;
    *n = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
layer_EnumerateInstanceExtensionProperties(const char *name, uint32_t *n,
                                           VkExtensionProperties *ret)
{
    return count_none(name, n);
}

static VKAPI_ATTR VkResult VKAPI_CALL
layer_EnumerateInstanceLayerProperties(uint32_t *n, VkLayerProperties *ret)
{
    static const VkLayerProperties ours = {
        .layerName = "VK_LAYER_PFD_capture",
        .specVersion = VK_MAKE_API_VERSION(0, 1, 3, 0),
        .implementationVersion = 1,
        .description = "Takes what shaders print",
    };
    if (!ret) {
        *n = 1;
        return VK_SUCCESS;
    }
    if (*n < 1)
        return VK_INCOMPLETE;
    *n = 1;
    *ret = ours;
    return VK_SUCCESS;
}

/* ---- functions by name ---- */

struct hook {
    const char *name;
    PFN_vkVoidFunction function;
};

#define HOOK(folder, name)                              \
    {                                                   \
        "vk" #name, (PFN_vkVoidFunction)folder##_##name \
    }
#define TWIN(folder, name, twin)                        \
    {                                                   \
        "vk" #twin, (PFN_vkVoidFunction)folder##_##name \
    }

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
layer_GetDeviceProcAddr(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
layer_GetInstanceProcAddr(VkInstance instance, const char *name);

/* Functions of the layer that need no instance. */
static const struct hook global_hooks[] = {
    HOOK(layer, CreateInstance),
    HOOK(layer, EnumerateInstanceExtensionProperties),
    HOOK(layer, EnumerateInstanceLayerProperties),
    HOOK(layer, GetInstanceProcAddr),
};

static const struct hook instance_hooks[] = {
    HOOK(layer, CreateDevice),
    HOOK(layer, DestroyInstance),
    HOOK(messengers, CreateDebugUtilsMessengerEXT),
    HOOK(messengers, CreateDebugReportCallbackEXT),
};

static const struct hook device_hooks[] = {
    HOOK(layer, GetDeviceProcAddr),
    HOOK(layer, DestroyDevice),
    HOOK(memory, AllocateMemory),
    HOOK(memory, FreeMemory),
    HOOK(memory, MapMemory),
    HOOK(memory, UnmapMemory),
    HOOK(memory, MapMemory2KHR),
    TWIN(memory, MapMemory2KHR, MapMemory2),
    HOOK(memory, UnmapMemory2KHR),
    TWIN(memory, UnmapMemory2KHR, UnmapMemory2),
    HOOK(memory, CreateBuffer),
    HOOK(memory, GetDeviceBufferMemoryRequirements),
    TWIN(memory, GetDeviceBufferMemoryRequirements,
         GetDeviceBufferMemoryRequirementsKHR),
    HOOK(memory, DestroyBuffer),
    HOOK(memory, BindBufferMemory),
    HOOK(memory, BindBufferMemory2),
    TWIN(memory, BindBufferMemory2, BindBufferMemory2KHR),
    HOOK(names, SetDebugUtilsObjectNameEXT),
    HOOK(names, CreateShaderModule),
    HOOK(names, DestroyShaderModule),
    HOOK(names, DestroyPipeline),
    HOOK(modules, CreateComputePipelines),
    HOOK(modules, CreateGraphicsPipelines),
    HOOK(modules, CreateRayTracingPipelinesKHR),
    HOOK(modules, CreateShadersEXT),
    HOOK(command, AllocateCommandBuffers),
    HOOK(command, FreeCommandBuffers),
    HOOK(command, ResetCommandPool),
    HOOK(command, DestroyCommandPool),
    HOOK(command, BeginCommandBuffer),
    HOOK(command, ResetCommandBuffer),
    HOOK(command, CmdExecuteCommands),
    HOOK(command, CmdFillBuffer),
    HOOK(command, CmdUpdateBuffer),
    HOOK(command, CmdCopyBuffer),
    HOOK(command, CmdCopyBuffer2),
    TWIN(command, CmdCopyBuffer2, CmdCopyBuffer2KHR),
    HOOK(own_queues, GetDeviceQueue),
    HOOK(own_queues, GetDeviceQueue2),
    HOOK(own_queues, QueueBindSparse),
    HOOK(own_queues, QueueBeginDebugUtilsLabelEXT),
    HOOK(own_queues, QueueEndDebugUtilsLabelEXT),
    HOOK(own_queues, QueueInsertDebugUtilsLabelEXT),
    HOOK(queue, QueueSubmit),
    HOOK(queue, QueueSubmit2),
    TWIN(queue, QueueSubmit2, QueueSubmit2KHR),
    HOOK(queue, QueueWaitIdle),
    HOOK(queue, QueuePresentKHR),
    HOOK(queue, DeviceWaitIdle),
    HOOK(queue, WaitForFences),
    HOOK(queue, GetFenceStatus),
    HOOK(queue, ResetFences),
    HOOK(queue, DestroyFence),
    HOOK(queue, CreateSemaphore),
    HOOK(queue, DestroySemaphore),
    HOOK(queue, WaitSemaphores),
    TWIN(queue, WaitSemaphores, WaitSemaphoresKHR),
    HOOK(queue, GetSemaphoreCounterValue),
    TWIN(queue, GetSemaphoreCounterValue, GetSemaphoreCounterValueKHR),
};

/* Of devices with the validation layer above: its sets and their use. */
static const struct hook validated_hooks[] = {
    HOOK(command, UpdateDescriptorSets),
    HOOK(command, FreeDescriptorSets),
    HOOK(command, CmdBindPipeline),
    HOOK(command, CmdBindDescriptorSets),
};

static PFN_vkVoidFunction find(const struct hook *hooks, size_t n,
                               const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(hooks[i].name, name))
            return hooks[i].function;
    }
    return NULL;
}

#define FIND(hooks, name) find((hooks), sizeof(hooks) / sizeof *(hooks), (name))

/* The layer's function, if the next layer has one; debug names need none. */
static PFN_vkVoidFunction layer_GetDeviceProcAddr(VkDevice device,
                                                  const char *name)
{
    struct device *d = device_of(device);
    PFN_vkVoidFunction ours = FIND(device_hooks, name);
    if (!ours && d && d->is_validated)
        ours = FIND(validated_hooks, name);
    PFN_vkVoidFunction next =
        d ? d->next.GetDeviceProcAddr(device, name) : NULL;
    bool is_name = !strcmp(name, "vkSetDebugUtilsObjectNameEXT") && d &&
                   d->instance->has_debug_utils;
    return ours && (next || is_name) ? ours : next;
}

static PFN_vkVoidFunction layer_GetInstanceProcAddr(VkInstance instance,
                                                    const char *name)
{
    PFN_vkVoidFunction ours = FIND(global_hooks, name);
    struct instance *i = instance ? instance_of(instance) : NULL;
    if (ours || !i)
        return ours;
    PFN_vkVoidFunction next = i->GetInstanceProcAddr(instance, name);
    ours = FIND(instance_hooks, name);
    ours = ours ? ours : FIND(device_hooks, name);
    return ours && next ? ours : next;
}

/* The only exported name. Headers from 1.3.239 on have no macro for it. */
__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(
    VkNegotiateLayerInterface *pVersionStruct)
{
    VkNegotiateLayerInterface *interface = pVersionStruct;
    if (!interface || interface->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT)
        return VK_ERROR_INITIALIZATION_FAILED;
    if (interface->loaderLayerInterfaceVersion < INTERFACE_VERSION)
        return VK_ERROR_INITIALIZATION_FAILED;
    interface->loaderLayerInterfaceVersion = INTERFACE_VERSION;
    interface->pfnGetInstanceProcAddr = layer_GetInstanceProcAddr;
    interface->pfnGetDeviceProcAddr = layer_GetDeviceProcAddr;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    settings_get();
    return VK_SUCCESS;
}
