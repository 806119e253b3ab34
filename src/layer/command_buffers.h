/* SPDX-License-Identifier: MIT */
/*
 * Descriptor sets and command buffers: tracks the buffers of validation that
 * the actions of a command buffer write.
 */
#ifndef LAYER_COMMAND_BUFFERS_H
#define LAYER_COMMAND_BUFFERS_H

#include "device.h"

VKAPI_ATTR void VKAPI_CALL command_UpdateDescriptorSets(
    VkDevice device, uint32_t n_writes, const VkWriteDescriptorSet *writes,
    uint32_t n_copies, const VkCopyDescriptorSet *copies);
VKAPI_ATTR VkResult VKAPI_CALL
command_FreeDescriptorSets(VkDevice device, VkDescriptorPool pool, uint32_t n,
                           const VkDescriptorSet *sets);
VKAPI_ATTR VkResult VKAPI_CALL command_AllocateCommandBuffers(
    VkDevice device, const VkCommandBufferAllocateInfo *info,
    VkCommandBuffer *ret);
VKAPI_ATTR void VKAPI_CALL
command_FreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t n,
                           const VkCommandBuffer *commands);
VKAPI_ATTR VkResult VKAPI_CALL command_ResetCommandPool(
    VkDevice device, VkCommandPool pool, VkCommandPoolResetFlags flags);
VKAPI_ATTR void VKAPI_CALL
command_DestroyCommandPool(VkDevice device, VkCommandPool pool,
                           const VkAllocationCallbacks *allocator);
VKAPI_ATTR VkResult VKAPI_CALL command_BeginCommandBuffer(
    VkCommandBuffer commands, const VkCommandBufferBeginInfo *info);
VKAPI_ATTR VkResult VKAPI_CALL command_ResetCommandBuffer(
    VkCommandBuffer commands, VkCommandBufferResetFlags flags);
VKAPI_ATTR void VKAPI_CALL command_CmdExecuteCommands(
    VkCommandBuffer commands, uint32_t n, const VkCommandBuffer *secondary);
VKAPI_ATTR void VKAPI_CALL command_CmdBindPipeline(VkCommandBuffer commands,
                                                   VkPipelineBindPoint point,
                                                   VkPipeline pipeline);
VKAPI_ATTR void VKAPI_CALL command_CmdBindDescriptorSets(
    VkCommandBuffer commands, VkPipelineBindPoint point,
    VkPipelineLayout layout, uint32_t first, uint32_t n,
    const VkDescriptorSet *sets, uint32_t n_offsets, const uint32_t *offsets);
VKAPI_ATTR void VKAPI_CALL command_CmdFillBuffer(VkCommandBuffer commands,
                                                 VkBuffer buffer,
                                                 VkDeviceSize offset,
                                                 VkDeviceSize size,
                                                 uint32_t value);
VKAPI_ATTR void VKAPI_CALL command_CmdUpdateBuffer(VkCommandBuffer commands,
                                                   VkBuffer buffer,
                                                   VkDeviceSize offset,
                                                   VkDeviceSize size,
                                                   const void *bytes);
VKAPI_ATTR void VKAPI_CALL command_CmdCopyBuffer(VkCommandBuffer commands,
                                                 VkBuffer from, VkBuffer to,
                                                 uint32_t n,
                                                 const VkBufferCopy *regions);
VKAPI_ATTR void VKAPI_CALL
command_CmdCopyBuffer2(VkCommandBuffer commands, const VkCopyBufferInfo2 *info);

/* The actions of a command buffer; NULL: unknown. The caller holds the device's
 * lock. */
const struct command *command_find(const struct device *device,
                                   VkCommandBuffer commands);

/* Appends uses. False: out of memory, which was logged. */
bool uses_add(struct uses *uses, const struct use *more, size_t n);
void uses_free(struct uses *uses);

void command_forget(struct device *device);

#endif
