/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SETS_MAX = 32,
    KEPT_MAX = 64, /* buffers */
};

struct gpu gpu;

static struct gpu_buffer kept[KEPT_MAX];
static size_t n_kept;
static VkDescriptorSetLayout set_layouts[SETS_MAX];
static uint32_t n_sets;
static VkPipelineLayout layout;
static VkDescriptorPool descriptors;
static VkShaderModule module;
static VkPipeline pipeline;

static void end(int status, const char *what)
{
    fprintf(stderr, "Vulkan: %s\n", what);
    exit(status);
}

void gpu_must(VkResult result, const char *what)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "Vulkan: %s: error %d\n", what, (int)result);
        exit(1);
    }
}

/* ---- the device ---- */

static void open_instance(void)
{
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_3,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    uint32_t n = 1;
    if (!vulkan_load())
        exit(77);
    if (vk.CreateInstance(&info, NULL, &gpu.instance) != VK_SUCCESS)
        end(77, "there is no driver");
    vk.EnumeratePhysicalDevices(gpu.instance, &n, &gpu.physical);
    if (n == 0)
        end(77, "there is no device");
}

/* The first family that can compute; with graphics, if one can. */
static void choose_family(void)
{
    VkQueueFamilyProperties families[32];
    uint32_t n = 32;
    bool found = false;
    vk.GetPhysicalDeviceQueueFamilyProperties(gpu.physical, &n, families);
    for (uint32_t i = n; i-- > 0;) {
        VkQueueFlags flags = families[i].queueFlags;
        if (!(flags & VK_QUEUE_COMPUTE_BIT))
            continue;
        if (!found || flags & VK_QUEUE_GRAPHICS_BIT)
            gpu.family = i;
        found = true;
    }
    if (!found)
        end(77, "the device cannot compute");
}

static bool has_extension(const char *name)
{
    VkExtensionProperties all[512];
    uint32_t n = sizeof all / sizeof *all;
    vk.EnumerateDeviceExtensionProperties(gpu.physical, NULL, &n, all);
    for (uint32_t i = 0; i < n; i++) {
        if (!strcmp(all[i].extensionName, name))
            return true;
    }
    return false;
}

/* All that the device can is enabled: a shader may need it. */
static void open_device(void)
{
    static const char *const clock_name = VK_KHR_SHADER_CLOCK_EXTENSION_NAME;
    const bool has_clock = has_extension(clock_name);
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceShaderClockFeaturesKHR clock = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR,
    };
    VkPhysicalDeviceVulkan13Features features13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
    };
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
    };
    VkPhysicalDeviceVulkan11Features features11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
        .pNext = &features12,
    };
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = has_clock ? &clock : NULL,
    };
    vk.GetPhysicalDeviceProperties(gpu.physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_1)
        end(77, "the device has no Vulkan 1.1");
    if (properties.apiVersion >= VK_API_VERSION_1_2) {
        features12.pNext = features.pNext;
        features.pNext = &features11;
    }
    if (properties.apiVersion >= VK_API_VERSION_1_3) {
        features13.pNext = features12.pNext;
        features12.pNext = &features13;
    }
    vk.GetPhysicalDeviceFeatures2(gpu.physical, &features);
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = gpu.family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = has_clock,
        .ppEnabledExtensionNames = &clock_name,
    };
    gpu_must(vk.CreateDevice(gpu.physical, &info, NULL, &gpu.device), "device");
    vk.GetDeviceQueue(gpu.device, gpu.family, 0, &gpu.queue);
}

static void make_commands(void)
{
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = gpu.family,
    };
    gpu_must(vk.CreateCommandPool(gpu.device, &pool, NULL, &gpu.pool),
             "command pool");
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = gpu.pool,
        .commandBufferCount = 1,
    };
    gpu_must(vk.AllocateCommandBuffers(gpu.device, &commands, &gpu.commands),
             "command buffer");
}

void gpu_open(void)
{
    open_instance();
    choose_family();
    open_device();
    make_commands();
}

void gpu_close(void)
{
    for (size_t i = 0; i < n_kept; i++) {
        vk.DestroyBuffer(gpu.device, kept[i].buffer, NULL);
        vk.FreeMemory(gpu.device, kept[i].device_memory, NULL);
    }
    for (uint32_t i = 0; i < n_sets; i++)
        vk.DestroyDescriptorSetLayout(gpu.device, set_layouts[i], NULL);
    vk.DestroyPipeline(gpu.device, pipeline, NULL);
    vk.DestroyShaderModule(gpu.device, module, NULL);
    vk.DestroyPipelineLayout(gpu.device, layout, NULL);
    vk.DestroyDescriptorPool(gpu.device, descriptors, NULL);
    vk.DestroyCommandPool(gpu.device, gpu.pool, NULL);
    vk.DestroyDevice(gpu.device, NULL);
    vk.DestroyInstance(gpu.instance, NULL);
}

/* ---- memory ---- */

VkDeviceMemory gpu_memory(VkMemoryRequirements needs,
                          VkMemoryPropertyFlags properties)
{
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceMemory ret;
    uint32_t type = 0;
    vk.GetPhysicalDeviceMemoryProperties(gpu.physical, &memory);
    while (
        type < memory.memoryTypeCount &&
        (!(needs.memoryTypeBits >> type & 1) ||
         (memory.memoryTypes[type].propertyFlags & properties) != properties))
        type++;
    if (type == memory.memoryTypeCount)
        end(1, "no memory of the kind that is needed");
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = type,
    };
    gpu_must(vk.AllocateMemory(gpu.device, &info, NULL, &ret), "memory");
    return ret;
}

struct gpu_buffer gpu_buffer(size_t n_bytes)
{
    struct gpu_buffer ret = { .n_bytes = n_bytes };
    VkMemoryRequirements needs;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = n_bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
    };
    if (n_kept == KEPT_MAX)
        end(1, "too many buffers");
    gpu_must(vk.CreateBuffer(gpu.device, &info, NULL, &ret.buffer), "buffer");
    vk.GetBufferMemoryRequirements(gpu.device, ret.buffer, &needs);
    ret.device_memory =
        gpu_memory(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                              VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    gpu_must(vk.BindBufferMemory(gpu.device, ret.buffer, ret.device_memory, 0),
             "buffer");
    gpu_must(vk.MapMemory(gpu.device, ret.device_memory, 0, VK_WHOLE_SIZE, 0,
                          &ret.memory),
             "mapping");
    memset(ret.memory, 0, n_bytes);
    kept[n_kept++] = ret;
    return ret;
}

/* ---- what a shader has bound ---- */

static VkDescriptorType type_of(const struct shader_resource *r)
{
    return r->is_uniform ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                         : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

static void make_set_layout(const struct shader *shader, uint32_t set,
                            VkShaderStageFlags stages)
{
    VkDescriptorSetLayoutBinding bindings[SHADER_RESOURCES_MAX];
    uint32_t n = 0;
    for (size_t i = 0; i < shader->n_resources; i++) {
        const struct shader_resource *r = &shader->resources[i];
        if (r->set != set)
            continue;
        bindings[n++] = (VkDescriptorSetLayoutBinding){
            .binding = r->binding,
            .descriptorType = type_of(r),
            .descriptorCount = 1,
            .stageFlags = stages,
        };
    }
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = n,
        .pBindings = bindings,
    };
    gpu_must(vk.CreateDescriptorSetLayout(gpu.device, &info, NULL,
                                          &set_layouts[set]),
             "descriptor set layout");
}

VkPipelineLayout gpu_layout(const struct shader *shader,
                            VkShaderStageFlags stages)
{
    for (size_t i = 0; i < shader->n_resources; i++) {
        if (shader->resources[i].set >= SETS_MAX)
            end(1, "the shader has a set above 31");
        if (shader->resources[i].set >= n_sets)
            n_sets = shader->resources[i].set + 1;
    }
    for (uint32_t set = 0; set < n_sets; set++)
        make_set_layout(shader, set, stages);
    VkPushConstantRange push = { stages, 0, SHADER_PUSH_BYTES };
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = n_sets,
        .pSetLayouts = set_layouts,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
    };
    gpu_must(vk.CreatePipelineLayout(gpu.device, &info, NULL, &layout),
             "pipeline layout");
    return layout;
}

static void make_sets(VkDescriptorSet *ret)
{
    VkDescriptorPoolSize sizes[] = {
        { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, SHADER_RESOURCES_MAX },
        { VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, SHADER_RESOURCES_MAX },
    };
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = SETS_MAX,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    gpu_must(vk.CreateDescriptorPool(gpu.device, &pool, NULL, &descriptors),
             "descriptor pool");
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = descriptors,
        .descriptorSetCount = n_sets,
        .pSetLayouts = set_layouts,
    };
    gpu_must(vk.AllocateDescriptorSets(gpu.device, &info, ret),
             "descriptor sets");
}

void gpu_bind(const struct shader *shader, const struct gpu_buffer *buffers,
              VkPipelineBindPoint point)
{
    VkDescriptorSet sets[SETS_MAX] = { 0 };
    if (n_sets > 0)
        make_sets(sets);
    for (size_t i = 0; i < shader->n_resources; i++) {
        const struct shader_resource *r = &shader->resources[i];
        VkDescriptorBufferInfo of = { buffers[i].buffer, 0, VK_WHOLE_SIZE };
        VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = sets[r->set],
            .dstBinding = r->binding,
            .descriptorCount = 1,
            .descriptorType = type_of(r),
            .pBufferInfo = &of,
        };
        vk.UpdateDescriptorSets(gpu.device, 1, &write, 0, NULL);
    }
    if (n_sets > 0) {
        vk.CmdBindDescriptorSets(gpu.commands, point, layout, 0, n_sets, sets,
                                 0, NULL);
    }
    vk.CmdPushConstants(gpu.commands, layout,
                        point == VK_PIPELINE_BIND_POINT_COMPUTE
                            ? VK_SHADER_STAGE_COMPUTE_BIT
                            : VK_SHADER_STAGE_ALL_GRAPHICS,
                        0, SHADER_PUSH_BYTES, shader->push);
}

VkShaderModule gpu_module(const struct shader *shader)
{
    VkShaderModule ret;
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = 4 * shader->n,
        .pCode = shader->words,
    };
    gpu_must(vk.CreateShaderModule(gpu.device, &info, NULL, &ret), "shader");
    return ret;
}

/* ---- running ---- */

void gpu_begin(void)
{
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
    };
    gpu_must(vk.BeginCommandBuffer(gpu.commands, &info), "commands");
}

void gpu_end(void)
{
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &gpu.commands,
    };
    vk.CmdPipelineBarrier(gpu.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                          VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL,
                          0, NULL);
    gpu_must(vk.EndCommandBuffer(gpu.commands), "commands");
    gpu_must(vk.QueueSubmit(gpu.queue, 1, &submit, VK_NULL_HANDLE), "submit");
    gpu_must(vk.QueueWaitIdle(gpu.queue), "the shader");
}

void gpu_dispatch(const struct shader *shader, const struct gpu_buffer *buffers,
                  const uint32_t *groups)
{
    module = gpu_module(shader);
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                   .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                   .module = module,
                   .pName = shader->entry },
        .layout = gpu_layout(shader, VK_SHADER_STAGE_COMPUTE_BIT),
    };
    gpu_must(
        vk.CreateComputePipelines(gpu.device, NULL, 1, &info, NULL, &pipeline),
        "pipeline");
    gpu_begin();
    vk.CmdBindPipeline(gpu.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    gpu_bind(shader, buffers, VK_PIPELINE_BIND_POINT_COMPUTE);
    vk.CmdDispatch(gpu.commands, groups[0], groups[1], groups[2]);
    gpu_end();
}
