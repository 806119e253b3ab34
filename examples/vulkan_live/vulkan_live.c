/* SPDX-License-Identifier: MIT */
/*
 * A compute shader whose lines a service shows while it runs. The buffer it
 * prints into is shared memory that the service reads as well, imported into
 * Vulkan as host memory: no copy is made anywhere.
 *
 *   vulkan_live SOCKET CODE_OBJECT SHADER.spv [SUBMITS]
 *
 * The shader gets the number of the submit as a push constant, from 0 on. With
 * SUBMITS each of them waits for a line on standard input, and a line on
 * standard output says that it is done.
 *
 * Exit status 77: there is no Vulkan device that can import host memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#include <printfdecode/client.h>

enum {
    FILE_MAX = 1 << 20,
    THREADS = 1024,
    GROUP = 64,
    SUBMITS = 4,
    SUBMITS_MAX = 4096,
    SIZE = 1 << 20,
};

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static uint32_t family;

static void die(const char *what)
{
    fprintf(stderr, "vulkan_live: %s\n", what);
    exit(1);
}

static void skip(const char *why)
{
    printf("skipped: %s\n", why);
    exit(77);
}

static void must(VkResult result, const char *what)
{
    if (result != VK_SUCCESS)
        die(what);
}

static size_t read_file(const char *path, uint32_t *ret)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(ret, 1, FILE_MAX, f) : 0;
    if (!n)
        die(path);
    fclose(f);
    return n;
}

static int has_host_memory(VkPhysicalDevice candidate)
{
    static VkExtensionProperties extensions[512];
    uint32_t n = 512;
    vkEnumerateDeviceExtensionProperties(candidate, NULL, &n, extensions);
    for (uint32_t i = 0; i < n; i++) {
        if (!strcmp(extensions[i].extensionName,
                    VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME))
            return 1;
    }
    return 0;
}

static void open_device(void)
{
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_1,
    };
    VkInstanceCreateInfo instance_info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    VkPhysicalDevice devices[8];
    uint32_t n = 8;
    if (vkCreateInstance(&instance_info, NULL, &instance) != VK_SUCCESS)
        skip("no Vulkan driver");
    vkEnumeratePhysicalDevices(instance, &n, devices);
    for (uint32_t i = 0; i < n && !physical; i++) {
        if (has_host_memory(devices[i]))
            physical = devices[i];
    }
    if (!physical)
        skip("no device with " VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    VkQueueFamilyProperties families[16];
    n = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &n, families);
    while (family < n && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        family++;
    if (family == n)
        skip("no compute queue");
    const char *extension = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    float priority = 1;
    VkDeviceQueueCreateInfo queue_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo device_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue_info,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = &extension,
    };
    must(vkCreateDevice(physical, &device_info, NULL, &device), "device");
}

/* The shared memory as a storage buffer. */
static VkBuffer import_memory(void *memory)
{
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
    };
    VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = &external,
        .size = SIZE,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    VkMemoryHostPointerPropertiesEXT properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT,
    };
    PFN_vkGetMemoryHostPointerPropertiesEXT get_properties =
        (PFN_vkGetMemoryHostPointerPropertiesEXT)vkGetDeviceProcAddr(
            device, "vkGetMemoryHostPointerPropertiesEXT");
    VkBuffer buffer;
    VkDeviceMemory device_memory;
    must(vkCreateBuffer(device, &buffer_info, NULL, &buffer), "buffer");
    must(get_properties(device,
                        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                        memory, &properties),
         "host memory");
    VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
        .pHostPointer = memory,
    };
    VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &import,
        .allocationSize = SIZE,
        .memoryTypeIndex =
            (uint32_t)__builtin_ctz(properties.memoryTypeBits | 1u << 31),
    };
    must(vkAllocateMemory(device, &allocate, NULL, &device_memory), "import");
    must(vkBindBufferMemory(device, buffer, device_memory, 0), "bind");
    return buffer;
}

/* The shader and its buffer, ready to be run. */
struct job {
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorSet set;
    VkCommandPool commands;
};

static struct job make_job(VkBuffer buffer, const uint32_t *spirv, size_t n)
{
    VkDescriptorSetLayoutBinding binding = {
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .descriptorCount = 1,
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
    };
    VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding,
    };
    VkDescriptorSetLayout set_layout;
    must(vkCreateDescriptorSetLayout(device, &set_info, NULL, &set_layout),
         "descriptor set layout");
    VkPushConstantRange number = { VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                   sizeof(uint32_t) };
    VkPipelineLayoutCreateInfo layout_info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &number,
    };
    struct job job;
    must(vkCreatePipelineLayout(device, &layout_info, NULL, &job.layout),
         "pipeline layout");
    VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = n,
        .pCode = spirv,
    };
    VkShaderModule module;
    must(vkCreateShaderModule(device, &module_info, NULL, &module), "shader");
    VkComputePipelineCreateInfo pipeline_info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                   .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                   .module = module,
                   .pName = "main" },
        .layout = job.layout,
    };
    must(vkCreateComputePipelines(device, NULL, 1, &pipeline_info, NULL,
                                  &job.pipeline),
         "pipeline");
    VkDescriptorPoolSize pool_size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1 };
    VkDescriptorPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &pool_size,
    };
    VkDescriptorPool pool;
    must(vkCreateDescriptorPool(device, &pool_info, NULL, &pool), "pool");
    VkDescriptorSetAllocateInfo set_allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &set_layout,
    };
    must(vkAllocateDescriptorSets(device, &set_allocate, &job.set), "set");
    VkDescriptorBufferInfo buffer_info = { buffer, 0, VK_WHOLE_SIZE };
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = job.set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = &buffer_info,
    };
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    VkCommandPoolCreateInfo commands_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = family,
    };
    must(vkCreateCommandPool(device, &commands_info, NULL, &job.commands),
         "command pool");
    return job;
}

/* A command buffer for one submit. */
static VkCommandBuffer record(const struct job *job, uint32_t number)
{
    VkCommandBufferAllocateInfo command_allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = job->commands,
        .commandBufferCount = 1,
    };
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
    };
    VkCommandBuffer command;
    must(vkAllocateCommandBuffers(device, &command_allocate, &command),
         "command buffer");
    must(vkBeginCommandBuffer(command, &begin), "begin");
    vkCmdBindPipeline(command, VK_PIPELINE_BIND_POINT_COMPUTE, job->pipeline);
    vkCmdBindDescriptorSets(command, VK_PIPELINE_BIND_POINT_COMPUTE,
                            job->layout, 0, 1, &job->set, 0, NULL);
    vkCmdPushConstants(command, job->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       sizeof number, &number);
    vkCmdDispatch(command, THREADS / GROUP, 1, 1);
    must(vkEndCommandBuffer(command), "end");
    return command;
}

static void submit(VkQueue queue, VkCommandBuffer command)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &command,
    };
    must(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE), "submit");
    must(vkQueueWaitIdle(queue), "wait");
}

/* False: standard input has ended. */
static int is_wanted(void)
{
    char line[16];
    return fgets(line, sizeof line, stdin) != NULL;
}

int main(int argc, char **argv)
{
    static uint32_t elf[FILE_MAX / 4];
    static uint32_t spirv[FILE_MAX / 4];
    struct pfd_client *client = NULL;
    struct pfd_client_buffer *buffer = NULL;
    struct pfd_error err;
    VkPhysicalDeviceProperties properties;
    VkQueue queue;

    int waits = argc == 5;
    long n_submits = waits ? strtol(argv[4], NULL, 10) : SUBMITS;
    if ((argc != 4 && !waits) || n_submits < 1 || n_submits > SUBMITS_MAX)
        die("usage: vulkan_live SOCKET CODE_OBJECT SHADER.spv [SUBMITS]");
    open_device();
    vkGetPhysicalDeviceProperties(physical, &properties);
    struct pfd_wire_frame origin = {
        .size = SIZE,
        .name = pfd_wire_text("vulkan_live"),
        .format = pfd_wire_text("llpc"),
        .device = pfd_wire_text(properties.deviceName),
        .pipeline_type = pfd_wire_text("compute"),
        .stage = pfd_wire_text("compute"),
    };
    size_t n_elf = read_file(argv[2], elf);
    if (pfd_client_new(argv[1], NULL, 0, &client, &err) < 0 ||
        pfd_client_code_object(client, argv[2], elf, n_elf, NULL, &err) < 0 ||
        pfd_client_buffer_new(client, &origin, true, &buffer, &err) < 0)
        die(err.text);
    struct job job =
        make_job(import_memory(pfd_client_buffer_memory(buffer, NULL)), spirv,
                 read_file(argv[3], spirv));
    vkGetDeviceQueue(device, family, 0, &queue);
    for (int i = 0; i < n_submits && (!waits || is_wanted()); i++) {
        submit(queue, record(&job, (uint32_t)i));
        pfd_client_buffer_ring(buffer);
        pfd_client_poll(client);
        if (waits) {
            puts("done");
            fflush(stdout);
        }
    }
    pfd_client_buffer_free(buffer);
    pfd_client_free(client);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
