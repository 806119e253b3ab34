/* SPDX-License-Identifier: MIT */
/*
 * VK_LAYER_PFD_pretend, for tests: stands between the layer under test and a
 * driver. With PRETEND_LOST in the environment a caller that waits is told, when
 * all is done, that the device is lost; from then on nothing can be mapped.
 *
 * With PRETEND_SLOW a driver that has one queue and one type of memory appears
 * to have two: queues that can be used at once, and memory of the device's own
 * that the processor does not cache beside memory that it does. The number of
 * copies and of their bytes is told at the end, on standard error. With
 * PRETEND_SLOW=stuck a caller that waits for a fence of the second queue is told
 * that it takes longer, and a buffer that is destroyed before its copy is done
 * is told on standard error.
 * With PRETEND_SLOW=one there is one queue: two calls that use it at once are
 * told on standard error.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

enum {
    SUBMIT_US = 500, /* of a call that uses the one queue */
};

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static VkInstance the_instance;
static VkDevice the_device;

/* Looked up while the instance is made: later the loader gives those of the
 * layer on top. */
static struct {
    PFN_vkGetPhysicalDeviceMemoryProperties GetPhysicalDeviceMemoryProperties;
    PFN_vkGetPhysicalDeviceMemoryProperties2 GetPhysicalDeviceMemoryProperties2;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties
        GetPhysicalDeviceQueueFamilyProperties;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties2
        GetPhysicalDeviceQueueFamilyProperties2;
} below;

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
#define LOOK_UP(name) \
    below.name = (PFN_vk##name)next_instance(the_instance, "vk" #name)
    LOOK_UP(GetPhysicalDeviceMemoryProperties);
    LOOK_UP(GetPhysicalDeviceMemoryProperties2);
    LOOK_UP(GetPhysicalDeviceQueueFamilyProperties);
    LOOK_UP(GetPhysicalDeviceQueueFamilyProperties2);
    return result;
}

/* ---- two queues, two types of memory ---- */

static atomic_uint n_copies;
static atomic_ullong n_bytes;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_slow(void)
{
    return getenv("PRETEND_SLOW") != NULL;
}

/* Does the driver appear to have one queue? */
static bool has_one(void)
{
    return !strcmp(getenv("PRETEND_SLOW"), "one");
}

/* Takes the queue for a call; where there is one, callers have to see to it
 * that no other call has it. */
static void take_queue(void)
{
    if (!has_one()) {
        pthread_mutex_lock(&queue_lock);
    } else if (pthread_mutex_trylock(&queue_lock)) {
        fprintf(stderr, "pretend: two calls use the queue at once\n");
        pthread_mutex_lock(&queue_lock);
    }
}

static void split_types(VkPhysicalDeviceMemoryProperties *p)
{
    VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                 VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    p->memoryTypeCount = 2;
    p->memoryTypes[1] = p->memoryTypes[0];
    p->memoryTypes[0].propertyFlags =
        host | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    p->memoryTypes[1].propertyFlags = host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
}

static VKAPI_ATTR void VKAPI_CALL
GetMemory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *ret)
{
    below.GetPhysicalDeviceMemoryProperties(device, ret);
    split_types(ret);
}

static VKAPI_ATTR void VKAPI_CALL
GetMemory2(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2 *ret)
{
    below.GetPhysicalDeviceMemoryProperties2(device, ret);
    split_types(&ret->memoryProperties);
}

static VKAPI_ATTR void VKAPI_CALL GetFamilies(VkPhysicalDevice device,
                                              uint32_t *n,
                                              VkQueueFamilyProperties *ret)
{
    below.GetPhysicalDeviceQueueFamilyProperties(device, n, ret);
    for (uint32_t i = 0; ret && i < *n; i++)
        ret[i].queueCount = has_one() ? 1 : 2;
}

static VKAPI_ATTR void VKAPI_CALL GetFamilies2(VkPhysicalDevice device,
                                               uint32_t *n,
                                               VkQueueFamilyProperties2 *ret)
{
    below.GetPhysicalDeviceQueueFamilyProperties2(device, n, ret);
    for (uint32_t i = 0; ret && i < *n; i++)
        ret[i].queueFamilyProperties.queueCount = has_one() ? 1 : 2;
}

static VKAPI_ATTR void VKAPI_CALL GetDeviceQueue(VkDevice device,
                                                 uint32_t family,
                                                 uint32_t index, VkQueue *ret)
{
    ((PFN_vkGetDeviceQueue)next_device(device, "vkGetDeviceQueue"))(
        device, family, 0, ret);
}

static VKAPI_ATTR VkResult VKAPI_CALL QueueSubmit(VkQueue queue, uint32_t n,
                                                  const VkSubmitInfo *infos,
                                                  VkFence fence)
{
    PFN_vkQueueSubmit submit =
        (PFN_vkQueueSubmit)next_device(the_device, "vkQueueSubmit");
    take_queue();
    VkResult result = submit(queue, n, infos, fence);
    usleep(has_one() ? SUBMIT_US : 0);
    pthread_mutex_unlock(&queue_lock);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL InsertLabel(VkQueue queue,
                                              const VkDebugUtilsLabelEXT *label)
{
    take_queue();
    usleep(has_one() ? SUBMIT_US : 0);
    pthread_mutex_unlock(&queue_lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL
AllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
               const VkAllocationCallbacks *allocator, VkDeviceMemory *ret)
{
    VkMemoryAllocateInfo only = *info;
    only.memoryTypeIndex = 0;
    return ((PFN_vkAllocateMemory)next_device(device, "vkAllocateMemory"))(
        device, &only, allocator, ret);
}

static VKAPI_ATTR void VKAPI_CALL GetRequirements(VkDevice device,
                                                  VkBuffer buffer,
                                                  VkMemoryRequirements *ret)
{
    ((PFN_vkGetBufferMemoryRequirements)next_device(
        device, "vkGetBufferMemoryRequirements"))(device, buffer, ret);
    ret->memoryTypeBits = 3;
}

static VKAPI_ATTR void VKAPI_CALL
GetRequirements2(VkDevice device, const VkBufferMemoryRequirementsInfo2 *info,
                 VkMemoryRequirements2 *ret)
{
    ((PFN_vkGetBufferMemoryRequirements2)next_device(
        device, "vkGetBufferMemoryRequirements2"))(device, info, ret);
    ret->memoryRequirements.memoryTypeBits = 3;
}

static _Atomic VkBuffer copied; /* last */
static _Atomic VkBuffer late;   /* may still be read; null: none */
static _Atomic VkFence late_fence;

static VKAPI_ATTR void VKAPI_CALL CmdCopyBuffer(VkCommandBuffer commands,
                                                VkBuffer from, VkBuffer to,
                                                uint32_t n,
                                                const VkBufferCopy *regions)
{
    n_copies++;
    copied = from;
    for (uint32_t i = 0; i < n; i++)
        n_bytes += regions[i].size;
    ((PFN_vkCmdCopyBuffer)next_device(the_device, "vkCmdCopyBuffer"))(
        commands, from, to, n, regions);
}

/* A copy that takes too long: its waiter's limit is finite. */
static VKAPI_ATTR VkResult VKAPI_CALL WaitForCopies(VkDevice device, uint32_t n,
                                                    const VkFence *fences,
                                                    VkBool32 all,
                                                    uint64_t timeout)
{
    if (timeout != UINT64_MAX && !strcmp(getenv("PRETEND_SLOW"), "stuck")) {
        late = copied;
        late_fence = fences[0];
        return VK_TIMEOUT;
    }
    if (fences[0] == late_fence)
        late = VK_NULL_HANDLE;
    return ((PFN_vkWaitForFences)next_device(device, "vkWaitForFences"))(
        device, n, fences, all, timeout);
}

static VKAPI_ATTR void VKAPI_CALL DestroyBuffer(
    VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *allocator)
{
    if (buffer && buffer == late)
        fprintf(stderr, "pretend: a buffer that is copied is destroyed\n");
    ((PFN_vkDestroyBuffer)next_device(device, "vkDestroyBuffer"))(
        device, buffer, allocator);
}

static VKAPI_ATTR void VKAPI_CALL
DestroyDevice(VkDevice device, const VkAllocationCallbacks *allocator)
{
    fprintf(stderr, "pretend: %u copies, %llu bytes\n", n_copies, n_bytes);
    ((PFN_vkDestroyDevice)next_device(device, "vkDestroyDevice"))(device,
                                                                  allocator);
}

/* The driver has one queue of each family. */
static VkResult create_with_one(PFN_vkCreateDevice create,
                                VkPhysicalDevice physical,
                                const VkDeviceCreateInfo *info,
                                const VkAllocationCallbacks *allocator,
                                VkDevice *ret)
{
    VkDeviceQueueCreateInfo queue = info->pQueueCreateInfos[0];
    VkDeviceCreateInfo only = *info;
    queue.queueCount = 1;
    only.pQueueCreateInfos = &queue;
    only.queueCreateInfoCount = 1;
    return create(physical, &only, allocator, ret);
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
    return is_slow() ? create_with_one(create, physical, info, allocator, ret)
                     : create(physical, info, allocator, ret);
}

/* ---- a lost device ---- */

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

/* ---- functions by name ---- */

struct function {
    const char *name;
    PFN_vkVoidFunction function;
};

#define FUNCTION(name, function)                \
    {                                           \
        "vk" name, (PFN_vkVoidFunction)function \
    }

static const struct function losing[] = {
    FUNCTION("QueueWaitIdle", QueueWaitIdle),
    FUNCTION("WaitForFences", WaitForFences),
    FUNCTION("MapMemory", MapMemory),
    { NULL, NULL },
};

static const struct function slow[] = {
    FUNCTION("GetPhysicalDeviceMemoryProperties", GetMemory),
    FUNCTION("GetPhysicalDeviceMemoryProperties2", GetMemory2),
    FUNCTION("GetPhysicalDeviceMemoryProperties2KHR", GetMemory2),
    FUNCTION("GetPhysicalDeviceQueueFamilyProperties", GetFamilies),
    FUNCTION("GetPhysicalDeviceQueueFamilyProperties2", GetFamilies2),
    FUNCTION("GetPhysicalDeviceQueueFamilyProperties2KHR", GetFamilies2),
    FUNCTION("GetDeviceQueue", GetDeviceQueue),
    FUNCTION("QueueSubmit", QueueSubmit),
    FUNCTION("QueueInsertDebugUtilsLabelEXT", InsertLabel),
    FUNCTION("AllocateMemory", AllocateMemory),
    FUNCTION("GetBufferMemoryRequirements", GetRequirements),
    FUNCTION("GetBufferMemoryRequirements2", GetRequirements2),
    FUNCTION("GetBufferMemoryRequirements2KHR", GetRequirements2),
    FUNCTION("CmdCopyBuffer", CmdCopyBuffer),
    FUNCTION("WaitForFences", WaitForCopies),
    FUNCTION("DestroyBuffer", DestroyBuffer),
    FUNCTION("DestroyDevice", DestroyDevice),
    { NULL, NULL },
};

static PFN_vkVoidFunction own(const char *name)
{
    const struct function *f = getenv("PRETEND_LOST") ? losing
                               : is_slow()            ? slow
                                                      : NULL;
    while (f && f->name && strcmp(f->name, name) != 0)
        f++;
    return f ? f->function : NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
GetDeviceProcAddr(VkDevice device, const char *name)
{
    PFN_vkVoidFunction ret = own(name);
    the_device = device;
    return ret ? ret : next_device(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
GetInstanceProcAddr(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction ret = own(name);
    if (!strcmp(name, "vkCreateInstance"))
        return (PFN_vkVoidFunction)CreateInstance;
    if (!strcmp(name, "vkCreateDevice"))
        return (PFN_vkVoidFunction)CreateDevice;
    if (ret)
        return ret;
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
