/* SPDX-License-Identifier: MIT */
#include "pipelines.h"

#include "modules.h"

/* A stage with a module handle was seen with that. The caller holds the
 * device's lock. */
static void add_stage(struct device *d,
                      const VkPipelineShaderStageCreateInfo *stage)
{
    const VkBaseInStructure *link = stage->pNext;
    while (link && link->sType != VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO)
        link = link->pNext;
    const VkShaderModuleCreateInfo *module = (const void *)link;
    if (!stage->module && module)
        modules_add(d, VK_NULL_HANDLE, module->pCode, module->codeSize);
}

/* Before the pipelines are created: if creation fails, their strings do no
 * harm. */
static void add_stages(struct device *d, uint32_t n,
                       const VkPipelineShaderStageCreateInfo *stages)
{
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < n; i++)
        add_stage(d, &stages[i]);
    pthread_mutex_unlock(&d->lock);
}

VkResult pipelines_CreateComputePipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n,
    const VkComputePipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret)
{
    struct device *d = device_of(device);
    for (uint32_t i = 0; i < n; i++)
        add_stages(d, 1, &infos[i].stage);
    return d->next.CreateComputePipelines(device, cache, n, infos, allocator,
                                          ret);
}

VkResult pipelines_CreateGraphicsPipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n,
    const VkGraphicsPipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret)
{
    struct device *d = device_of(device);
    for (uint32_t i = 0; i < n; i++)
        add_stages(d, infos[i].stageCount, infos[i].pStages);
    return d->next.CreateGraphicsPipelines(device, cache, n, infos, allocator,
                                           ret);
}

VkResult pipelines_CreateRayTracingPipelinesKHR(
    VkDevice device, VkDeferredOperationKHR deferred, VkPipelineCache cache,
    uint32_t n, const VkRayTracingPipelineCreateInfoKHR *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret)
{
    struct device *d = device_of(device);
    for (uint32_t i = 0; i < n; i++)
        add_stages(d, infos[i].stageCount, infos[i].pStages);
    return d->next.CreateRayTracingPipelinesKHR(device, deferred, cache, n,
                                                infos, allocator, ret);
}

VkResult pipelines_CreateShadersEXT(VkDevice device, uint32_t n,
                                    const VkShaderCreateInfoEXT *infos,
                                    const VkAllocationCallbacks *allocator,
                                    VkShaderEXT *ret)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < n; i++) {
        if (infos[i].codeType == VK_SHADER_CODE_TYPE_SPIRV_EXT)
            modules_add(d, VK_NULL_HANDLE, infos[i].pCode, infos[i].codeSize);
    }
    pthread_mutex_unlock(&d->lock);
    return d->next.CreateShadersEXT(device, n, infos, allocator, ret);
}
