/* SPDX-License-Identifier: MIT */
/*
 * A Vulkan driver without a device, for tests. It fills and updates buffers,
 * at once when that is submitted, and does nothing else. After as many
 * submissions as NULL_LOST says the device is lost: what was submitted last is
 * done, waiting fails, and nothing can be mapped any more.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

enum {
    WRITES_MAX = 16,
    MEMORY_ALIGN = 64,
};

/* Handles of instances, devices, queues and command buffers begin with what
 * the loader puts there. */
struct object {
    VK_LOADER_DATA loader;
};

struct buffer {
    char *memory; /* borrowed */
    VkDeviceSize size;
};

struct write {
    struct buffer *to;
    VkDeviceSize offset;
    VkDeviceSize n;
    char *bytes; /* [n], owned */
};

struct commands {
    struct object object;
    struct write writes[WRITES_MAX];
    size_t n;
};

struct device {
    struct object object;
    struct object queue;
};

static struct object physical;
static atomic_int n_submitted;

static bool is_lost(void)
{
    const char *after = getenv("NULL_LOST");
    return after && n_submitted >= atoi(after);
}

static void *make(size_t n)
{
    struct object *o = calloc(1, n);
    set_loader_magic_value(o);
    return o;
}

/* ---- instances ---- */

static VKAPI_ATTR VkResult VKAPI_CALL
null_CreateInstance(const VkInstanceCreateInfo *info,
                    const VkAllocationCallbacks *allocator, VkInstance *ret)
{
    *ret = make(sizeof(struct object));
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL null_EnumeratePhysicalDevices(
    VkInstance instance, uint32_t *n, VkPhysicalDevice *ret)
{
    if (ret) {
        set_loader_magic_value(&physical);
        ret[0] = (VkPhysicalDevice)&physical;
    }
    *n = 1;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL null_EnumerateExtensions(
    const char *layer, uint32_t *n, VkExtensionProperties *ret)
{
    *n = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL null_EnumerateDeviceExtensionProperties(
    VkPhysicalDevice device, const char *layer, uint32_t *n,
    VkExtensionProperties *ret)
{
    *n = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL null_GetPhysicalDeviceProperties(
    VkPhysicalDevice device, VkPhysicalDeviceProperties *ret)
{
    *ret = (VkPhysicalDeviceProperties){
        .apiVersion = VK_API_VERSION_1_3,
        .deviceName = "null",
        .limits.maxBoundDescriptorSets = 8,
    };
}

static VKAPI_ATTR void VKAPI_CALL null_GetPhysicalDeviceFeatures(
    VkPhysicalDevice device, VkPhysicalDeviceFeatures *ret)
{
    *ret = (VkPhysicalDeviceFeatures){ 0 };
}

static VKAPI_ATTR void VKAPI_CALL null_GetPhysicalDeviceQueueFamilyProperties(
    VkPhysicalDevice device, uint32_t *n, VkQueueFamilyProperties *ret)
{
    if (ret) {
        ret[0] = (VkQueueFamilyProperties){
            .queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
            .queueCount = 1,
        };
    }
    *n = 1;
}

static VKAPI_ATTR void VKAPI_CALL null_GetPhysicalDeviceMemoryProperties(
    VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *ret)
{
    /* Not coherent: whoever reads it has to say so first. */
    *ret = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = 1,
        .memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
        .memoryHeapCount = 1,
        .memoryHeaps[0].size = 1 << 30,
    };
}

/* ---- devices ---- */

static VKAPI_ATTR VkResult VKAPI_CALL
null_CreateDevice(VkPhysicalDevice device, const VkDeviceCreateInfo *info,
                  const VkAllocationCallbacks *allocator, VkDevice *ret)
{
    *ret = make(sizeof(struct device));
    return VK_SUCCESS;
}

/* Of instances and devices. */
static VKAPI_ATTR void VKAPI_CALL
null_Destroy(void *handle, const VkAllocationCallbacks *allocator)
{
    free(handle);
}

static VKAPI_ATTR void VKAPI_CALL null_GetDeviceQueue(VkDevice device,
                                                      uint32_t family,
                                                      uint32_t i, VkQueue *ret)
{
    struct object *queue = &((struct device *)device)->queue;
    set_loader_magic_value(queue);
    *ret = (VkQueue)queue;
}

static VKAPI_ATTR VkResult VKAPI_CALL
null_AllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                    const VkAllocationCallbacks *allocator, VkDeviceMemory *ret)
{
    *ret = (VkDeviceMemory)(uintptr_t)calloc(1, info->allocationSize);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
null_MapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
               VkDeviceSize size, VkMemoryMapFlags flags, void **ret)
{
    *ret = (char *)(uintptr_t)memory + offset;
    return is_lost() ? VK_ERROR_MEMORY_MAP_FAILED : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
null_CreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                  const VkAllocationCallbacks *allocator, VkBuffer *ret)
{
    struct buffer *b = calloc(1, sizeof *b);
    b->size = info->size;
    *ret = (VkBuffer)(uintptr_t)b;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL null_GetBufferMemoryRequirements(
    VkDevice device, VkBuffer buffer, VkMemoryRequirements *ret)
{
    const struct buffer *b = (const void *)(uintptr_t)buffer;
    *ret = (VkMemoryRequirements){ b->size, MEMORY_ALIGN, 1 };
}

static VKAPI_ATTR VkResult VKAPI_CALL
null_BindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                      VkDeviceSize offset)
{
    struct buffer *b = (void *)(uintptr_t)buffer;
    b->memory = (char *)(uintptr_t)memory + offset;
    return VK_SUCCESS;
}

/* Of all that calloc() has made. */
static VKAPI_ATTR void VKAPI_CALL null_Free(
    VkDevice device, uint64_t handle, const VkAllocationCallbacks *allocator)
{
    free((void *)(uintptr_t)handle);
}

static VKAPI_ATTR VkResult VKAPI_CALL
null_Make(VkDevice device, const void *info,
          const VkAllocationCallbacks *allocator, uint64_t *ret)
{
    *ret = (uint64_t)(uintptr_t)calloc(1, 1);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL null_CreateComputePipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n,
    const VkComputePipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret)
{
    for (uint32_t i = 0; i < n; i++)
        ret[i] = (VkPipeline)(uintptr_t)calloc(1, 1);
    return VK_SUCCESS;
}

/* ---- commands ---- */

static VKAPI_ATTR VkResult VKAPI_CALL null_AllocateCommandBuffers(
    VkDevice device, const VkCommandBufferAllocateInfo *info,
    VkCommandBuffer *ret)
{
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        ret[i] = make(sizeof(struct commands));
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
null_BeginCommandBuffer(VkCommandBuffer handle, const void *info)
{
    struct commands *c = (struct commands *)handle;
    for (size_t i = 0; i < c->n; i++)
        free(c->writes[i].bytes);
    c->n = 0;
    return VK_SUCCESS;
}

static char *add(VkCommandBuffer handle, VkBuffer buffer, VkDeviceSize offset,
                 VkDeviceSize n)
{
    struct commands *c = (struct commands *)handle;
    struct buffer *b = (void *)(uintptr_t)buffer;
    n = n == VK_WHOLE_SIZE ? b->size - offset : n;
    if (c->n == WRITES_MAX)
        abort();
    c->writes[c->n] = (struct write){ b, offset, n, calloc(1, n) };
    return c->writes[c->n++].bytes;
}

static VKAPI_ATTR void VKAPI_CALL null_CmdFillBuffer(VkCommandBuffer handle,
                                                     VkBuffer buffer,
                                                     VkDeviceSize offset,
                                                     VkDeviceSize n,
                                                     uint32_t value)
{
    if (value)
        abort();
    add(handle, buffer, offset, n);
}

static VKAPI_ATTR void VKAPI_CALL null_CmdUpdateBuffer(VkCommandBuffer handle,
                                                       VkBuffer buffer,
                                                       VkDeviceSize offset,
                                                       VkDeviceSize n,
                                                       const void *bytes)
{
    memcpy(add(handle, buffer, offset, n), bytes, n);
}

static VKAPI_ATTR VkResult VKAPI_CALL null_QueueSubmit(
    VkQueue handle, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
    n_submitted++;
    for (uint32_t i = 0; i < n; i++) {
        const struct commands *c =
            (const struct commands *)infos[i].pCommandBuffers[0];
        for (size_t k = 0; k < c->n; k++) {
            const struct write *w = &c->writes[k];
            memcpy(w->to->memory + w->offset, w->bytes, w->n);
        }
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL null_Wait(void)
{
    return is_lost() ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL null_Succeed(void)
{
    return VK_SUCCESS;
}

/* ---- functions by name ---- */

static PFN_vkVoidFunction VKAPI_CALL get(void *unused, const char *name);

#define OWN(name)                                   \
    {                                               \
        "vk" #name, (PFN_vkVoidFunction)null_##name \
    }
#define BY(name, other)                              \
    {                                                \
        "vk" #name, (PFN_vkVoidFunction)null_##other \
    }

static const struct {
    const char *name;
    PFN_vkVoidFunction function;
} functions[] = {
    OWN(CreateInstance),
    BY(DestroyInstance, Destroy),
    OWN(EnumeratePhysicalDevices),
    BY(EnumerateInstanceExtensionProperties, EnumerateExtensions),
    OWN(EnumerateDeviceExtensionProperties),
    OWN(GetPhysicalDeviceProperties),
    OWN(GetPhysicalDeviceFeatures),
    OWN(GetPhysicalDeviceQueueFamilyProperties),
    OWN(GetPhysicalDeviceMemoryProperties),
    BY(GetPhysicalDeviceFormatProperties, Succeed),
    BY(GetPhysicalDeviceImageFormatProperties, Succeed),
    BY(GetPhysicalDeviceSparseImageFormatProperties, Succeed),
    OWN(CreateDevice),
    BY(DestroyDevice, Destroy),
    { "vkGetDeviceProcAddr", (PFN_vkVoidFunction)get },
    OWN(GetDeviceQueue),
    OWN(AllocateMemory),
    BY(FreeMemory, Free),
    OWN(MapMemory),
    BY(UnmapMemory, Succeed),
    BY(InvalidateMappedMemoryRanges, Succeed),
    OWN(CreateBuffer),
    BY(DestroyBuffer, Free),
    OWN(GetBufferMemoryRequirements),
    OWN(BindBufferMemory),
    BY(CreateShaderModule, Make),
    BY(DestroyShaderModule, Free),
    BY(CreatePipelineLayout, Make),
    BY(DestroyPipelineLayout, Free),
    OWN(CreateComputePipelines),
    BY(DestroyPipeline, Free),
    BY(CreateShadersEXT, Succeed),
    BY(CreateFence, Make),
    BY(DestroyFence, Free),
    BY(CreateCommandPool, Make),
    BY(DestroyCommandPool, Free),
    OWN(AllocateCommandBuffers),
    OWN(BeginCommandBuffer),
    BY(EndCommandBuffer, Succeed),
    BY(CmdBindPipeline, Succeed),
    BY(CmdDispatch, Succeed),
    BY(CmdPipelineBarrier, Succeed),
    OWN(CmdFillBuffer),
    OWN(CmdUpdateBuffer),
    OWN(QueueSubmit),
    BY(QueueWaitIdle, Wait),
    BY(DeviceWaitIdle, Wait),
    BY(WaitForFences, Wait),
    BY(GetFenceStatus, Wait),
    BY(ResetFences, Succeed),
};

static PFN_vkVoidFunction get(void *unused, const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!strcmp(functions[i].name, name))
            return functions[i].function;
    }
    return NULL;
}

__attribute__((visibility("default"))) PFN_vkVoidFunction
vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
    return get(instance, name);
}

__attribute__((visibility("default"))) VkResult
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    *version = *version < 5 ? *version : 5;
    return VK_SUCCESS;
}
