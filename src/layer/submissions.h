/* SPDX-License-Identifier: MIT */
/*
 * What was submitted and is not known to be finished. Whoever waits, or asks,
 * tells us: then what it wrote is taken, before the caller goes on.
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
VKAPI_ATTR VkResult VKAPI_CALL queue_WaitSemaphores(
    VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout);
VKAPI_ATTR VkResult VKAPI_CALL queue_GetSemaphoreCounterValue(
    VkDevice device, VkSemaphore semaphore, uint64_t *ret);

/* Under the device's lock. The buffer goes: what was submitted with it and not
 * taken yet is taken. */
void queue_take_buffer(struct device *device, const struct buffer *buffer);

/* All of it, finished or not: the device goes. */
void queue_finish_all(struct device *device);

#endif
