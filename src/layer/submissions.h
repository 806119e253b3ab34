/* SPDX-License-Identifier: MIT */
/*
 * Submitted work that is not known to be finished. When a caller waits for it
 * or queries it, the layer learns that it is finished, and takes its output
 * before the caller continues.
 */
#ifndef LAYER_SUBMISSIONS_H
#define LAYER_SUBMISSIONS_H

#include "device.h"

VKAPI_ATTR VkResult VKAPI_CALL queue_QueueSubmit(VkQueue queue, uint32_t n,
                                                 const VkSubmitInfo *infos,
                                                 VkFence fence);
VKAPI_ATTR VkResult VKAPI_CALL queue_QueueSubmit2(VkQueue queue, uint32_t n,
                                                  const VkSubmitInfo2 *infos,
                                                  VkFence fence);
VKAPI_ATTR VkResult VKAPI_CALL queue_QueueWaitIdle(VkQueue queue);
VKAPI_ATTR VkResult VKAPI_CALL
queue_QueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *info);
VKAPI_ATTR VkResult VKAPI_CALL queue_DeviceWaitIdle(VkDevice device);
VKAPI_ATTR VkResult VKAPI_CALL queue_WaitForFences(VkDevice device, uint32_t n,
                                                   const VkFence *fences,
                                                   VkBool32 all,
                                                   uint64_t timeout);
VKAPI_ATTR VkResult VKAPI_CALL queue_GetFenceStatus(VkDevice device,
                                                    VkFence fence);
VKAPI_ATTR VkResult VKAPI_CALL queue_ResetFences(VkDevice device, uint32_t n,
                                                 const VkFence *fences);
VKAPI_ATTR void VKAPI_CALL queue_DestroyFence(
    VkDevice device, VkFence fence, const VkAllocationCallbacks *allocator);
VKAPI_ATTR VkResult VKAPI_CALL
queue_CreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo *info,
                      const VkAllocationCallbacks *allocator, VkSemaphore *ret);
VKAPI_ATTR void VKAPI_CALL
queue_DestroySemaphore(VkDevice device, VkSemaphore semaphore,
                       const VkAllocationCallbacks *allocator);
VKAPI_ATTR VkResult VKAPI_CALL queue_WaitSemaphores(
    VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout);
VKAPI_ATTR VkResult VKAPI_CALL queue_GetSemaphoreCounterValue(
    VkDevice device, VkSemaphore semaphore, uint64_t *ret);

/* The buffer will be destroyed: takes the output of submissions that write it,
 * and the rest of a named one. The caller holds the device's lock. */
void queue_take_last(struct device *device, struct buffer *buffer);

/* Likewise for the buffers in memory that will be freed. */
void queue_take_memory(struct device *device, VkDeviceMemory memory);

/* Finishes all submissions, done or not: the device will be destroyed. */
void queue_finish_all(struct device *device);

#endif
