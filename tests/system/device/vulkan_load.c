/* SPDX-License-Identifier: MIT */
/*
 * Load for the Vulkan layer.
 *
 *   vulkan_load print SHADER.spv GROUPS   one dispatch of as many groups
 *   vulkan_load frames VERT.spv FRAG.spv DRAWS FRAMES
 *       frames of as many draws, each with a pipeline, a descriptor set and
 *       constants of its own; prints the median of the processor time in
 *       microseconds that the calling thread needs for a frame
 *
 * With VULKAN_LOAD_ALL_QUEUES in the environment it has all queues of their
 * family.
 *
 * Exit status: 0 done, 1 an error, 77 there is no device.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vulkan.h>

enum {
    CODE_MAX = 1 << 16,
    SIDE = 64, /* pixels of a frame */
    FRAMES_MAX = 4096,
    QUEUES_MAX = 64,
    NO_DEVICE = 77,
};

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandPool pool;
static VkCommandBuffer commands;
static VkFence fence;

static void must(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "vulkan_load: %s: %d\n", what, (int)result);
    exit(1);
}

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
    if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS)
        exit(NO_DEVICE);
    vkEnumeratePhysicalDevices(instance, &n, &physical);
    if (!n)
        exit(NO_DEVICE);
}

static uint32_t n_queues(void)
{
    VkQueueFamilyProperties family;
    uint32_t n = 1;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &n, &family);
    n = getenv("VULKAN_LOAD_ALL_QUEUES") ? family.queueCount : 1;
    return n < QUEUES_MAX ? n : QUEUES_MAX;
}

static void open_device(void)
{
    static const float priorities[QUEUES_MAX];
    VkPhysicalDeviceFeatures can;
    vkGetPhysicalDeviceFeatures(physical, &can);
    VkPhysicalDeviceFeatures wanted = {
        .vertexPipelineStoresAndAtomics = can.vertexPipelineStoresAndAtomics,
        .fragmentStoresAndAtomics = can.fragmentStoresAndAtomics,
        .shaderInt64 = can.shaderInt64,
    };
    VkPhysicalDeviceVulkan13Features features13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .dynamicRendering = VK_TRUE,
        .maintenance4 = VK_TRUE,
    };
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &features13,
        .timelineSemaphore = VK_TRUE,
        .bufferDeviceAddress = VK_TRUE,
        .scalarBlockLayout = VK_TRUE,
        .vulkanMemoryModel = VK_TRUE,
        .vulkanMemoryModelDeviceScope = VK_TRUE,
    };
    VkDeviceQueueCreateInfo queues = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = n_queues(),
        .pQueuePriorities = priorities,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features12,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queues,
        .pEnabledFeatures = &wanted,
    };
    must(vkCreateDevice(physical, &info, NULL, &device), "device");
    vkGetDeviceQueue(device, 0, 0, &queue);
}

static void make_commands(void)
{
    VkCommandPoolCreateInfo pools = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
    };
    VkFenceCreateInfo fences = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
    };
    must(vkCreateCommandPool(device, &pools, NULL, &pool), "pool");
    must(vkCreateFence(device, &fences, NULL, &fence), "fence");
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1,
    };
    must(vkAllocateCommandBuffers(device, &info, &commands), "commands");
}

static VkShaderModule make_module(const char *path)
{
    static uint32_t code[CODE_MAX];
    VkShaderModule ret;
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(code, 1, sizeof code, file) : 0;
    if (!file || fclose(file)) {
        perror(path);
        exit(1);
    }
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = n,
        .pCode = code,
    };
    must(vkCreateShaderModule(device, &info, NULL, &ret), path);
    return ret;
}

static void begin(void)
{
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    must(vkBeginCommandBuffer(commands, &info), "begin");
}

static void submit(void)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    must(vkEndCommandBuffer(commands), "end");
    must(vkQueueSubmit(queue, 1, &info, fence), "submit");
    must(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX), "wait");
    must(vkResetFences(device, 1, &fence), "reset");
}

/* ---- printing ---- */

static void print(const char *path, uint32_t groups)
{
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkPipelineLayoutCreateInfo layouts = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
    };
    must(vkCreatePipelineLayout(device, &layouts, NULL, &layout), "layout");
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = make_module(path),
            .pName = "main",
        },
        .layout = layout,
    };
    must(vkCreateComputePipelines(device, NULL, 1, &info, NULL, &pipeline),
         path);
    begin();
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdDispatch(commands, groups, 1, 1);
    submit();
    /* The validation layer reads on a thread of its own, and finds no shader
     * that was destroyed meanwhile. */
    must(vkDeviceWaitIdle(device), "wait");
    vkDestroyPipeline(device, pipeline, NULL);
    vkDestroyPipelineLayout(device, layout, NULL);
    vkDestroyShaderModule(device, info.stage.module, NULL);
}

/* ---- frames ---- */

static VkPipelineLayout frame_layout;
static VkPipeline frame_pipeline;
static VkDescriptorSet frame_set;
static VkImage image;
static VkImageView view;

static VkDeviceMemory allocate(const VkMemoryRequirements *needs,
                               VkMemoryPropertyFlags flags)
{
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceMemory ret;
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs->size,
    };
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    while (!(needs->memoryTypeBits >> info.memoryTypeIndex & 1) ||
           (memory.memoryTypes[info.memoryTypeIndex].propertyFlags & flags) !=
               flags)
        info.memoryTypeIndex++;
    must(vkAllocateMemory(device, &info, NULL, &ret), "memory");
    return ret;
}

static void make_image(void)
{
    VkMemoryRequirements needs;
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = { SIDE, SIDE, 1 },
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
    must(vkCreateImage(device, &info, NULL, &image), "image");
    vkGetImageMemoryRequirements(device, image, &needs);
    must(vkBindImageMemory(device, image, allocate(&needs, 0), 0), "bind");
    VkImageViewCreateInfo views = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = info.format,
        .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
    };
    must(vkCreateImageView(device, &views, NULL, &view), "view");
}

static VkBuffer make_buffer(void)
{
    VkBuffer ret;
    VkMemoryRequirements needs;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 256,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
    };
    must(vkCreateBuffer(device, &info, NULL, &ret), "buffer");
    vkGetBufferMemoryRequirements(device, ret, &needs);
    must(vkBindBufferMemory(device, ret, allocate(&needs, 0), 0), "bind");
    return ret;
}

static VkDescriptorSetLayout make_set(void)
{
    VkDescriptorPool sets;
    VkDescriptorSetLayout ret;
    VkDescriptorSetLayoutBinding binding = {
        .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
        .descriptorCount = 1,
        .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT,
    };
    VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding,
    };
    VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1 };
    VkDescriptorPoolCreateInfo pools = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    must(vkCreateDescriptorSetLayout(device, &layout, NULL, &ret), "set");
    must(vkCreateDescriptorPool(device, &pools, NULL, &sets), "sets");
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = sets,
        .descriptorSetCount = 1,
        .pSetLayouts = &ret,
    };
    must(vkAllocateDescriptorSets(device, &info, &frame_set), "set");
    VkDescriptorBufferInfo buffer = { make_buffer(), 0, VK_WHOLE_SIZE };
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = frame_set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
        .pBufferInfo = &buffer,
    };
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    return ret;
}

static VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits which,
                                             const char *path)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = which,
        .module = make_module(path),
        .pName = "main",
    };
}

static void make_layout(void)
{
    VkDescriptorSetLayout set = make_set();
    VkPushConstantRange constants = { VK_SHADER_STAGE_VERTEX_BIT, 0, 8 };
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &constants,
    };
    must(vkCreatePipelineLayout(device, &layout, NULL, &frame_layout),
         "layout");
}

static void make_pipeline(const char *vert, const char *frag)
{
    static const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    static const VkViewport viewport = { 0, 0, SIDE, SIDE, 0, 1 };
    static const VkRect2D scissor = { { 0, 0 }, { SIDE, SIDE } };
    VkPipelineShaderStageCreateInfo stages[] = {
        stage(VK_SHADER_STAGE_VERTEX_BIT, vert),
        stage(VK_SHADER_STAGE_FRAGMENT_BIT, frag),
    };
    VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    };
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    VkPipelineViewportStateCreateInfo view_state = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor,
    };
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1,
    };
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    VkPipelineColorBlendAttachmentState attachment = { .colorWriteMask = 15 };
    VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
    };
    VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
    };
    VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &vertices,
        .pInputAssemblyState = &assembly,
        .pViewportState = &view_state,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pColorBlendState = &blend,
        .layout = frame_layout,
    };
    must(vkCreateGraphicsPipelines(device, NULL, 1, &info, NULL,
                                   &frame_pipeline),
         "pipeline");
}

static void begin_rendering(void)
{
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
    };
    VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
    };
    VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = { { 0, 0 }, { SIDE, SIDE } },
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
    };
    vkCmdPipelineBarrier(commands,
                         VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                         VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, 0, 0,
                         NULL, 0, NULL, 1, &barrier);
    vkCmdBeginRendering(commands, &info);
}

static void draw_frame(uint32_t n_draws)
{
    begin();
    begin_rendering();
    for (uint32_t i = 0; i < n_draws; i++) {
        float by[2] = { (float)(i % 20) * 0.1F - 1, (float)(i % 19) * 0.1F };
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                          frame_pipeline);
        vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                frame_layout, 0, 1, &frame_set, 0, NULL);
        vkCmdPushConstants(commands, frame_layout, VK_SHADER_STAGE_VERTEX_BIT,
                           0, sizeof by, by);
        vkCmdDraw(commands, 3, 1, 0, 0);
    }
    vkCmdEndRendering(commands);
    submit();
}

static double processor_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void frames(char **arguments)
{
    static double times[FRAMES_MAX];
    uint32_t n_draws = (uint32_t)atoi(arguments[2]);
    size_t n = (size_t)atoi(arguments[3]);
    n = n < 1 ? 1 : n < FRAMES_MAX ? n : FRAMES_MAX;
    make_image();
    make_layout();
    make_pipeline(arguments[0], arguments[1]);
    draw_frame(n_draws);
    for (size_t i = 0; i < n; i++) {
        double before = processor_us();
        draw_frame(n_draws);
        times[i] = processor_us() - before;
    }
    qsort(times, n, sizeof *times, compare);
    printf("%.1f\n", times[n / 2]);
}

int main(int argc, char **argv)
{
    if (argc < 4 || (!strcmp(argv[1], "frames") && argc < 6))
        return 1;
    open_instance();
    open_device();
    make_commands();
    if (!strcmp(argv[1], "frames")) {
        frames(argv + 2);
        fflush(stdout);
        _Exit(0); /* its objects end with it */
    }
    print(argv[2], (uint32_t)atoi(argv[3]));
    vkDestroyFence(device, fence, NULL);
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
