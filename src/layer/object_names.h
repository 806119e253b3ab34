/* SPDX-License-Identifier: MIT */
/*
 * Names that the application sets through VK_EXT_debug_utils: of pipelines,
 * command buffers and modules, and of the buffers to take.
 */
#ifndef LAYER_OBJECT_NAMES_H
#define LAYER_OBJECT_NAMES_H

#include "device.h"

VKAPI_ATTR VkResult VKAPI_CALL names_SetDebugUtilsObjectNameEXT(
    VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info);
VKAPI_ATTR VkResult VKAPI_CALL names_CreateShaderModule(
    VkDevice device, const VkShaderModuleCreateInfo *info,
    const VkAllocationCallbacks *allocator, VkShaderModule *ret);
VKAPI_ATTR void VKAPI_CALL
names_DestroyShaderModule(VkDevice device, VkShaderModule module,
                          const VkAllocationCallbacks *allocator);
VKAPI_ATTR void VKAPI_CALL
names_DestroyPipeline(VkDevice device, VkPipeline pipeline,
                      const VkAllocationCallbacks *allocator);

/* The caller holds the device's lock. */
void names_forget(struct device *device);

#endif
