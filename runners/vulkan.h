/* SPDX-License-Identifier: MIT */
/* The functions of Vulkan that runners call, by vk.NAME, once vulkan_load() has
 * loaded them. */
#ifndef RUNNERS_VULKAN_H
#define RUNNERS_VULKAN_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

#define VULKAN_CALLS(X)                       \
    X(AllocateCommandBuffers)                 \
    X(AllocateDescriptorSets)                 \
    X(AllocateMemory)                         \
    X(BeginCommandBuffer)                     \
    X(BindBufferMemory)                       \
    X(CmdBindDescriptorSets)                  \
    X(CmdBindPipeline)                        \
    X(CmdDispatch)                            \
    X(CmdPipelineBarrier)                     \
    X(CmdPushConstants)                       \
    X(CreateBuffer)                           \
    X(CreateCommandPool)                      \
    X(CreateComputePipelines)                 \
    X(CreateDescriptorPool)                   \
    X(CreateDescriptorSetLayout)              \
    X(CreateDevice)                           \
    X(CreateInstance)                         \
    X(CreatePipelineLayout)                   \
    X(CreateShaderModule)                     \
    X(DestroyBuffer)                          \
    X(DestroyCommandPool)                     \
    X(DestroyDescriptorPool)                  \
    X(DestroyDescriptorSetLayout)             \
    X(DestroyDevice)                          \
    X(DestroyInstance)                        \
    X(DestroyPipeline)                        \
    X(DestroyPipelineLayout)                  \
    X(DestroyShaderModule)                    \
    X(EndCommandBuffer)                       \
    X(EnumerateDeviceExtensionProperties)     \
    X(EnumerateInstanceLayerProperties)       \
    X(EnumerateInstanceVersion)               \
    X(EnumeratePhysicalDevices)               \
    X(FreeMemory)                             \
    X(GetBufferMemoryRequirements)            \
    X(GetDeviceQueue)                         \
    X(GetPhysicalDeviceFeatures)              \
    X(GetPhysicalDeviceFeatures2)             \
    X(GetPhysicalDeviceMemoryProperties)      \
    X(GetPhysicalDeviceProperties)            \
    X(GetPhysicalDeviceQueueFamilyProperties) \
    X(MapMemory)                              \
    X(QueueSubmit)                            \
    X(QueueWaitIdle)                          \
    X(UpdateDescriptorSets)
#define VULKAN_POINTER(name) PFN_vk##name name;

struct vulkan {
    VULKAN_CALLS(VULKAN_POINTER)
};
extern struct vulkan vk;

/* False: there is no loader of Vulkan, which was said. */
bool vulkan_load(void);

#endif
