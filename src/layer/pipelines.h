/* SPDX-License-Identifier: MIT */
/*
 * Shader modules without a VkShaderModule: in the pNext chain of a pipeline's
 * stage (VK_KHR_maintenance5, VK_EXT_graphics_pipeline_library), and shader
 * objects (VK_EXT_shader_object).
 */
#ifndef LAYER_PIPELINES_H
#define LAYER_PIPELINES_H

#include "device.h"

VKAPI_ATTR VkResult VKAPI_CALL pipelines_CreateComputePipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n,
    const VkComputePipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret);
VKAPI_ATTR VkResult VKAPI_CALL pipelines_CreateGraphicsPipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n,
    const VkGraphicsPipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret);
VKAPI_ATTR VkResult VKAPI_CALL pipelines_CreateRayTracingPipelinesKHR(
    VkDevice device, VkDeferredOperationKHR deferred, VkPipelineCache cache,
    uint32_t n, const VkRayTracingPipelineCreateInfoKHR *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret);
VKAPI_ATTR VkResult VKAPI_CALL pipelines_CreateShadersEXT(
    VkDevice device, uint32_t n, const VkShaderCreateInfoEXT *infos,
    const VkAllocationCallbacks *allocator, VkShaderEXT *ret);

#endif
