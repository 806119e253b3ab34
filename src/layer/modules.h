/* SPDX-License-Identifier: MIT */
/*
 * Shader modules: finds validation's buffers in them, and keeps copies of the
 * modules that a reader needs until they are sent. The caller holds the
 * device's lock.
 */
#ifndef LAYER_MODULES_H
#define LAYER_MODULES_H

#include "device.h"

/* Adds [n] bytes of SPIR-V, borrowed. handle may be null. A module that prints
 * nothing is kept until it is destroyed: it is sent once validation has made a
 * copy of it that looks for errors. */
void modules_add(struct device *device, VkShaderModule handle,
                 const uint32_t *words, size_t n);

/* Call it before the module is destroyed: keeps its name. */
void modules_name(struct device *device, VkShaderModule handle);

/* Sends the modules that were not sent yet to the device's frame output. */
void modules_send(struct device *device);

void modules_free(struct device *device);

/*
 * Shader modules without a VkShaderModule: in the pNext chain of a pipeline's
 * stage (VK_KHR_maintenance5, VK_EXT_graphics_pipeline_library), and shader
 * objects (VK_EXT_shader_object).
 */

VKAPI_ATTR VkResult VKAPI_CALL modules_CreateComputePipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n,
    const VkComputePipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret);

VKAPI_ATTR VkResult VKAPI_CALL modules_CreateGraphicsPipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n,
    const VkGraphicsPipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret);

VKAPI_ATTR VkResult VKAPI_CALL modules_CreateRayTracingPipelinesKHR(
    VkDevice device, VkDeferredOperationKHR deferred, VkPipelineCache cache,
    uint32_t n, const VkRayTracingPipelineCreateInfoKHR *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret);

VKAPI_ATTR VkResult VKAPI_CALL modules_CreateShadersEXT(
    VkDevice device, uint32_t n, const VkShaderCreateInfoEXT *infos,
    const VkAllocationCallbacks *allocator, VkShaderEXT *ret);

#endif
