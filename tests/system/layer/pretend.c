/* SPDX-License-Identifier: MIT */
/*
 * VK_LAYER_PFD_pretend, for tests: stands between the layer under test and a
 * driver. With PRETEND_LOST in the environment whoever waits is told, when all
 * is done, that the device is lost; from then on nothing can be mapped.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static VkInstance the_instance;
static VkDevice the_device;

static void *find(const void *next, VkStructureType type)
{
    const VkLayerDeviceCreateInfo *link = next;
    while (link->sType != type || link->function != VK_LAYER_LINK_INFO)
        link = link->pNext;
    return (void *)(uintptr_t)link;
}

static VKAPI_ATTR VkResult VKAPI_CALL
CreateInstance(const VkInstanceCreateInfo *info,
               const VkAllocationCallbacks *allocator, VkInstance *ret)
{
    VkLayerInstanceCreateInfo *link =
        find(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)next_instance(NULL, "vkCreateInstance");
    VkResult result = create(info, allocator, ret);
    the_instance = *ret;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
             const VkAllocationCallbacks *allocator, VkDevice *ret)
{
    VkLayerDeviceCreateInfo *link =
        find(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    next_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)next_instance(the_instance, "vkCreateDevice");
    return create(physical, info, allocator, ret);
}

static bool is_lost;

static VKAPI_ATTR VkResult VKAPI_CALL QueueWaitIdle(VkQueue queue)
{
    PFN_vkQueueWaitIdle wait =
        (PFN_vkQueueWaitIdle)next_device(the_device, "vkQueueWaitIdle");
    VkResult result = wait(queue);
    is_lost = true;
    return result == VK_SUCCESS ? VK_ERROR_DEVICE_LOST : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL WaitForFences(VkDevice device, uint32_t n,
                                                    const VkFence *fences,
                                                    VkBool32 all,
                                                    uint64_t timeout)
{
    PFN_vkWaitForFences wait =
        (PFN_vkWaitForFences)next_device(the_device, "vkWaitForFences");
    VkResult result = wait(device, n, fences, all, timeout);
    is_lost = true;
    return result == VK_SUCCESS ? VK_ERROR_DEVICE_LOST : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
MapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
          VkDeviceSize size, VkMemoryMapFlags flags, void **ret)
{
    PFN_vkMapMemory map =
        (PFN_vkMapMemory)next_device(the_device, "vkMapMemory");
    return is_lost ? VK_ERROR_MEMORY_MAP_FAILED
                   : map(device, memory, offset, size, flags, ret);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
GetDeviceProcAddr(VkDevice device, const char *name)
{
    bool loses = getenv("PRETEND_LOST") != NULL;
    the_device = device;
    if (loses && !strcmp(name, "vkQueueWaitIdle"))
        return (PFN_vkVoidFunction)QueueWaitIdle;
    if (loses && !strcmp(name, "vkWaitForFences"))
        return (PFN_vkVoidFunction)WaitForFences;
    if (loses && !strcmp(name, "vkMapMemory"))
        return (PFN_vkVoidFunction)MapMemory;
    return next_device(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
GetInstanceProcAddr(VkInstance instance, const char *name)
{
    if (!strcmp(name, "vkCreateInstance"))
        return (PFN_vkVoidFunction)CreateInstance;
    if (!strcmp(name, "vkCreateDevice"))
        return (PFN_vkVoidFunction)CreateDevice;
    return instance ? next_instance(instance, name) : NULL;
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface)
{
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = GetInstanceProcAddr;
    interface->pfnGetDeviceProcAddr = GetDeviceProcAddr;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
