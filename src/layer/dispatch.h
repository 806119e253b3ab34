/* SPDX-License-Identifier: MIT */
/*
 * The Vulkan functions that the layer calls, in the next layer or driver.
 * Declares functions that are newer than the headers of Debian 12.
 */
#ifndef LAYER_DISPATCH_H
#define LAYER_DISPATCH_H

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

/* VK_KHR_map_memory2, in Vulkan since 1.4. */
#ifndef VK_KHR_map_memory2
#define VK_STRUCTURE_TYPE_MEMORY_MAP_INFO_KHR ((VkStructureType)1000271000)

typedef struct VkMemoryMapInfoKHR {
    VkStructureType sType;
    const void *pNext;
    VkMemoryMapFlags flags;
    VkDeviceMemory memory;
    VkDeviceSize offset;
    VkDeviceSize size;
} VkMemoryMapInfoKHR;

typedef struct VkMemoryUnmapInfoKHR {
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
    VkDeviceMemory memory;
} VkMemoryUnmapInfoKHR;

typedef VkResult(VKAPI_PTR *PFN_vkMapMemory2KHR)(
    VkDevice device, const VkMemoryMapInfoKHR *pMemoryMapInfo, void **ppData);
typedef VkResult(VKAPI_PTR *PFN_vkUnmapMemory2KHR)(
    VkDevice device, const VkMemoryUnmapInfoKHR *pMemoryUnmapInfo);
#endif

/* VK_EXT_shader_object. */
#ifndef VK_EXT_shader_object
#if VK_USE_64_BIT_PTR_DEFINES
typedef struct VkShaderEXT_T *VkShaderEXT;
#else
typedef uint64_t VkShaderEXT;
#endif

typedef enum VkShaderCodeTypeEXT {
    VK_SHADER_CODE_TYPE_BINARY_EXT = 0,
    VK_SHADER_CODE_TYPE_SPIRV_EXT = 1,
} VkShaderCodeTypeEXT;

typedef struct VkShaderCreateInfoEXT {
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
    VkShaderStageFlagBits stage;
    VkShaderStageFlags nextStage;
    VkShaderCodeTypeEXT codeType;
    size_t codeSize;
    const void *pCode;
    const char *pName;
    uint32_t setLayoutCount;
    const VkDescriptorSetLayout *pSetLayouts;
    uint32_t pushConstantRangeCount;
    const VkPushConstantRange *pPushConstantRanges;
    const VkSpecializationInfo *pSpecializationInfo;
} VkShaderCreateInfoEXT;

typedef VkResult(VKAPI_PTR *PFN_vkCreateShadersEXT)(
    VkDevice device, uint32_t createInfoCount,
    const VkShaderCreateInfoEXT *pCreateInfos,
    const VkAllocationCallbacks *pAllocator, VkShaderEXT *pShaders);
#endif

/* X(name, name of an extension's function of the same type). */
#define LAYER_FUNCTIONS(X)                                                     \
    X(DestroyDevice, DestroyDevice)                                            \
    X(AllocateMemory, AllocateMemory)                                          \
    X(FreeMemory, FreeMemory)                                                  \
    X(MapMemory, MapMemory)                                                    \
    X(UnmapMemory, UnmapMemory)                                                \
    X(MapMemory2KHR, MapMemory2)                                               \
    X(UnmapMemory2KHR, UnmapMemory2)                                           \
    X(CreateBuffer, CreateBuffer)                                              \
    X(DestroyBuffer, DestroyBuffer)                                            \
    X(BindBufferMemory, BindBufferMemory)                                      \
    X(BindBufferMemory2, BindBufferMemory2KHR)                                 \
    X(CreateShaderModule, CreateShaderModule)                                  \
    X(DestroyShaderModule, DestroyShaderModule)                                \
    X(CreateComputePipelines, CreateComputePipelines)                          \
    X(CreateGraphicsPipelines, CreateGraphicsPipelines)                        \
    X(CreateRayTracingPipelinesKHR, CreateRayTracingPipelinesKHR)              \
    X(CreateShadersEXT, CreateShadersEXT)                                      \
    X(DestroyPipeline, DestroyPipeline)                                        \
    X(UpdateDescriptorSets, UpdateDescriptorSets)                              \
    X(FreeDescriptorSets, FreeDescriptorSets)                                  \
    X(AllocateCommandBuffers, AllocateCommandBuffers)                          \
    X(FreeCommandBuffers, FreeCommandBuffers)                                  \
    X(ResetCommandPool, ResetCommandPool)                                      \
    X(DestroyCommandPool, DestroyCommandPool)                                  \
    X(BeginCommandBuffer, BeginCommandBuffer)                                  \
    X(ResetCommandBuffer, ResetCommandBuffer)                                  \
    X(CmdExecuteCommands, CmdExecuteCommands)                                  \
    X(CmdBindPipeline, CmdBindPipeline)                                        \
    X(CmdBindDescriptorSets, CmdBindDescriptorSets)                            \
    X(CmdFillBuffer, CmdFillBuffer)                                            \
    X(CmdUpdateBuffer, CmdUpdateBuffer)                                        \
    X(CmdCopyBuffer, CmdCopyBuffer)                                            \
    X(CmdCopyBuffer2, CmdCopyBuffer2KHR)                                       \
    X(QueueSubmit, QueueSubmit)                                                \
    X(QueueSubmit2, QueueSubmit2KHR)                                           \
    X(QueueBindSparse, QueueBindSparse)                                        \
    X(QueueBeginDebugUtilsLabelEXT, QueueBeginDebugUtilsLabelEXT)              \
    X(QueueEndDebugUtilsLabelEXT, QueueEndDebugUtilsLabelEXT)                  \
    X(QueueInsertDebugUtilsLabelEXT, QueueInsertDebugUtilsLabelEXT)            \
    X(QueueWaitIdle, QueueWaitIdle)                                            \
    X(QueuePresentKHR, QueuePresentKHR)                                        \
    X(DeviceWaitIdle, DeviceWaitIdle)                                          \
    X(WaitForFences, WaitForFences)                                            \
    X(GetFenceStatus, GetFenceStatus)                                          \
    X(ResetFences, ResetFences)                                                \
    X(DestroyFence, DestroyFence)                                              \
    X(CreateSemaphore, CreateSemaphore)                                        \
    X(DestroySemaphore, DestroySemaphore)                                      \
    X(WaitSemaphores, WaitSemaphoresKHR)                                       \
    X(GetSemaphoreCounterValue, GetSemaphoreCounterValueKHR)                   \
    X(SetDebugUtilsObjectNameEXT, SetDebugUtilsObjectNameEXT)                  \
    X(FlushMappedMemoryRanges, FlushMappedMemoryRanges)                        \
    X(InvalidateMappedMemoryRanges, InvalidateMappedMemoryRanges)              \
    X(GetDeviceBufferMemoryRequirements, GetDeviceBufferMemoryRequirementsKHR) \
    X(GetBufferMemoryRequirements, GetBufferMemoryRequirements)                \
    X(GetDeviceQueue, GetDeviceQueue)                                          \
    X(GetDeviceQueue2, GetDeviceQueue2)                                        \
    X(CreateCommandPool, CreateCommandPool)                                    \
    X(EndCommandBuffer, EndCommandBuffer)                                      \
    X(CreateFence, CreateFence)                                                \
    X(CmdPipelineBarrier, CmdPipelineBarrier)

#define LAYER_MEMBER(name, twin) PFN_vk##name name;

/* NULL: the device lacks it. */
struct dispatch {
    PFN_vkGetDeviceProcAddr GetDeviceProcAddr;
    LAYER_FUNCTIONS(LAYER_MEMBER)
};

#undef LAYER_MEMBER

#endif
