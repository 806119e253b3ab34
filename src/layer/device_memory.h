/* SPDX-License-Identifier: MIT */
/*
 * Memory and its buffers. A mapping by the application, or by a layer above, is
 * a part of ours (mapping.h) where there is one.
 */
#ifndef LAYER_DEVICE_MEMORY_H
#define LAYER_DEVICE_MEMORY_H

#include "device.h"

/* The hooks. */
VKAPI_ATTR VkResult VKAPI_CALL memory_AllocateMemory(
    VkDevice device, const VkMemoryAllocateInfo *info,
    const VkAllocationCallbacks *allocator, VkDeviceMemory *ret);
VKAPI_ATTR void VKAPI_CALL
memory_FreeMemory(VkDevice device, VkDeviceMemory memory,
                  const VkAllocationCallbacks *allocator);
VKAPI_ATTR VkResult VKAPI_CALL
memory_MapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                 VkDeviceSize size, VkMemoryMapFlags flags, void **ret);
VKAPI_ATTR void VKAPI_CALL memory_UnmapMemory(VkDevice device,
                                              VkDeviceMemory memory);
VKAPI_ATTR VkResult VKAPI_CALL memory_MapMemory2KHR(
    VkDevice device, const VkMemoryMapInfoKHR *info, void **ret);
VKAPI_ATTR VkResult VKAPI_CALL
memory_UnmapMemory2KHR(VkDevice device, const VkMemoryUnmapInfoKHR *info);
VKAPI_ATTR VkResult VKAPI_CALL
memory_CreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                    const VkAllocationCallbacks *allocator, VkBuffer *ret);
VKAPI_ATTR void VKAPI_CALL memory_GetDeviceBufferMemoryRequirements(
    VkDevice device, const VkDeviceBufferMemoryRequirements *info,
    VkMemoryRequirements2 *ret);
VKAPI_ATTR void VKAPI_CALL memory_DestroyBuffer(
    VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *allocator);
VKAPI_ATTR VkResult VKAPI_CALL memory_BindBufferMemory(VkDevice device,
                                                       VkBuffer buffer,
                                                       VkDeviceMemory memory,
                                                       VkDeviceSize offset);
VKAPI_ATTR VkResult VKAPI_CALL memory_BindBufferMemory2(
    VkDevice device, uint32_t n, const VkBindBufferMemoryInfo *infos);

/* Frees the records of all memory and buffers. */
void memory_forget(struct device *device);

#endif
