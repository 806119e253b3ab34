/* SPDX-License-Identifier: MIT */
/*
 * A small Vulkan program for the layer's tests.
 *
 *   play print SHADER.spv X [SHADER.spv X...]   dispatches in one command buffer
 *   play named DUMP...       a buffer named pfd:dump, which the device fills
 *                            with each of these files in turn, a submit each
 *   play threads N SHADER.spv X   as print, on N devices at once
 *   play devices N         makes, uses and ends devices in N threads
 *   play together N DUMP   as named, in threads on one device
 *
 * With PLAY_TIMELINE in the environment it waits for a semaphore, with PLAY_IDLE
 * for the queue or the device (its value), else for a fence. With PLAY_SHADER
 * `named` first makes a pipeline of that file without a module, and with
 * PLAY_OBJECT a shader object. With PLAY_MESSENGER the program has a messenger
 * for information, which goes to standard output. With PLAY_TWICE it submits
 * each command buffer twice before it waits. With PLAY_LOCAL the buffer is in the
 * device's own memory; it has PLAY_BYTES bytes, or 65536. With PLAY_LABEL each
 * submission has a label in front of it. With PLAY_SETTLE it waits for the device
 * before it destroys shaders that printed: validation 1.4 reads on a thread of
 * its own, and prints nothing of shaders that are gone. With PLAY_TWICE the
 * second submission does not run until as many milliseconds after the first.
 *
 * Exit status: 0 done, 3 the device was lost, 1 an error, 77 there is no device.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

enum {
    BUFFER_BYTES = 65536,
    DUMP_MAX = 512 << 10,
    UPDATE_MAX = 65536, /* bytes of one command */
    ACTIONS_MAX = 16,
    THREADS_MAX = 16,
    ROUNDS = 5, /* of each thread */
    LOST = 3,
};

struct device {
    VkPhysicalDevice physical;
    VkDevice handle;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    bool is_nameless;
    PFN_vkSetDebugUtilsObjectNameEXT set_name;
    PFN_vkQueueInsertDebugUtilsLabelEXT label; /* NULL: none */
};

static VkInstance instance;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

static void must(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "play: %s: %d\n", what, (int)result);
    exit(result == VK_ERROR_DEVICE_LOST ? LOST : 1);
}

/* With PLAY_VALIDATION in the environment the program enables it itself, with
 * PLAY_LAYERS what stands below it as well. */
static void open_instance(void)
{
    static const char *const layers[] = { "VK_LAYER_KHRONOS_validation",
                                          "VK_LAYER_PFD_capture",
                                          "VK_LAYER_PFD_pretend" };
    static const char *const extensions[] = { "VK_EXT_debug_utils" };
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_3,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
        .enabledLayerCount = getenv("PLAY_LAYERS")       ? 3
                             : getenv("PLAY_VALIDATION") ? 1
                                                         : 0,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = extensions,
    };
    if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS)
        exit(77);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL
hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
     VkDebugUtilsMessageTypeFlagsEXT types,
     const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    printf("%s\n", data->pMessage);
    return VK_FALSE;
}

static void add_messenger(void)
{
    VkDebugUtilsMessengerEXT unused;
    VkDebugUtilsMessengerCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = hear,
    };
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            instance, "vkCreateDebugUtilsMessengerEXT");
    must(create(instance, &info, NULL, &unused), "messenger");
}

static void name(const struct device *d, VkObjectType type, uint64_t handle,
                 const char *text)
{
    VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = text,
    };
    must(d->set_name(d->handle, &info), "name");
}

static void make_commands(struct device *d)
{
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
    };
    VkFenceCreateInfo fence = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
    };
    must(vkCreateCommandPool(d->handle, &pool, NULL, &d->pool), "pool");
    must(vkCreateFence(d->handle, &fence, NULL, &d->fence), "fence");
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = d->pool,
        .commandBufferCount = 1,
    };
    must(vkAllocateCommandBuffers(d->handle, &commands, &d->commands),
         "commands");
    if (!d->is_nameless) {
        name(d, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)d->commands,
             "frame");
    }
}

static void open_device(struct device *d)
{
    VkPhysicalDeviceFeatures can;
    float priority = 1;
    uint32_t n = 1;
    vkEnumeratePhysicalDevices(instance, &n, &d->physical);
    if (!n)
        exit(77);
    vkGetPhysicalDeviceFeatures(d->physical, &can);
    VkPhysicalDeviceFeatures wanted = {
        .shaderInt64 = can.shaderInt64,
        .shaderInt16 = can.shaderInt16,
        .shaderFloat64 = can.shaderFloat64,
        .vertexPipelineStoresAndAtomics = can.vertexPipelineStoresAndAtomics,
        .fragmentStoresAndAtomics = can.fragmentStoresAndAtomics,
    };
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkPhysicalDeviceVulkan13Features features13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = wanted.shaderInt16,
    };
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &features13,
        .shaderFloat16 = wanted.shaderInt16,
        .shaderInt8 = wanted.shaderInt16,
        .timelineSemaphore = wanted.shaderInt16,
        .bufferDeviceAddress = wanted.shaderInt16,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .pEnabledFeatures = &wanted,
    };
    must(vkCreateDevice(d->physical, &info, NULL, &d->handle), "device");
    vkGetDeviceQueue(d->handle, 0, 0, &d->queue);
    d->set_name = (PFN_vkSetDebugUtilsObjectNameEXT)vkGetDeviceProcAddr(
        d->handle, "vkSetDebugUtilsObjectNameEXT");
    if (getenv("PLAY_LABEL")) {
        d->label = (PFN_vkQueueInsertDebugUtilsLabelEXT)vkGetDeviceProcAddr(
            d->handle, "vkQueueInsertDebugUtilsLabelEXT");
    }
    make_commands(d);
}

static void close_device(struct device *d)
{
    vkDestroyFence(d->handle, d->fence, NULL);
    vkDestroyCommandPool(d->handle, d->pool, NULL);
    vkDestroyDevice(d->handle, NULL);
}

static void begin(const struct device *d)
{
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = getenv("PLAY_TWICE")
                     ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
                     : 0,
    };
    must(vkBeginCommandBuffer(d->commands, &info), "begin");
}

static VkSemaphore make_timeline(const struct device *d)
{
    VkSemaphore ret;
    VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    VkSemaphoreCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    must(vkCreateSemaphore(d->handle, &create, NULL, &ret), "semaphore");
    return ret;
}

/* What a fence does, by a semaphore that counts. */
static void submit_counted(const struct device *d)
{
    static uint64_t count;
    uint64_t value = ++count;
    VkSemaphore semaphore = make_timeline(d);
    VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = d->commands,
    };
    VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = semaphore,
        .value = value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = &signal,
    };
    VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &semaphore,
        .pValues = &value,
    };
    must(vkEndCommandBuffer(d->commands), "end");
    must(vkQueueSubmit2(d->queue, 1, &info, NULL), "submit");
    must(vkWaitSemaphores(d->handle, &wait, UINT64_MAX), "wait");
    vkDestroySemaphore(d->handle, semaphore, NULL);
}

static void submit_until_idle(const struct device *d, const char *what)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &d->commands,
    };
    must(vkEndCommandBuffer(d->commands), "end");
    must(vkQueueSubmit(d->queue, 1, &info, NULL), "submit");
    must(strcmp(what, "queue") ? vkDeviceWaitIdle(d->handle)
                               : vkQueueWaitIdle(d->queue),
         "wait");
}

static int settle_ms(void)
{
    const char *ms = getenv("PLAY_SETTLE");
    return ms ? atoi(ms) : 0;
}

/* Submits it again, to run when the semaphore counts 1. */
static void submit_held(const struct device *d, VkSemaphore semaphore,
                        VkFence fence)
{
    uint64_t value = 1;
    VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &value,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &semaphore,
        .pWaitDstStageMask = &stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &d->commands,
    };
    must(vkQueueSubmit(d->queue, 1, &info, fence), "submit");
}

static void submit_twice(const struct device *d)
{
    VkFence second;
    VkFenceCreateInfo fence = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &d->commands,
    };
    VkSemaphore semaphore = make_timeline(d);
    VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = semaphore,
        .value = 1,
    };
    must(vkCreateFence(d->handle, &fence, NULL, &second), "fence");
    must(vkEndCommandBuffer(d->commands), "end");
    must(vkQueueSubmit(d->queue, 1, &info, d->fence), "submit");
    if (settle_ms())
        submit_held(d, semaphore, second);
    else
        must(vkQueueSubmit(d->queue, 1, &info, second), "submit");
    must(vkWaitForFences(d->handle, 1, &d->fence, VK_TRUE, UINT64_MAX), "wait");
    usleep(1000 * (useconds_t)settle_ms());
    must(vkSignalSemaphore(d->handle, &signal), "signal");
    must(vkWaitForFences(d->handle, 1, &second, VK_TRUE, UINT64_MAX), "wait");
    vkDestroyFence(d->handle, second, NULL);
    vkDestroySemaphore(d->handle, semaphore, NULL);
}

static void label(const struct device *d)
{
    VkDebugUtilsLabelEXT label = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
        .pLabelName = "submit",
    };
    if (d->label)
        d->label(d->queue, &label);
}

static void submit(const struct device *d)
{
    const char *idle = getenv("PLAY_IDLE");
    if (getenv("PLAY_TIMELINE")) {
        submit_counted(d);
        return;
    }
    if (idle) {
        submit_until_idle(d, idle);
        return;
    }
    if (getenv("PLAY_TWICE")) {
        submit_twice(d);
        return;
    }
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &d->commands,
    };
    must(vkEndCommandBuffer(d->commands), "end");
    pthread_mutex_lock(&queue_lock);
    label(d);
    must(vkQueueSubmit(d->queue, 1, &info, d->fence), "submit");
    pthread_mutex_unlock(&queue_lock);
    must(vkWaitForFences(d->handle, 1, &d->fence, VK_TRUE, UINT64_MAX), "wait");
    must(vkResetFences(d->handle, 1, &d->fence), "reset");
}

static size_t read_file(const char *path, void *ret, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(ret, 1, room, file) : 0;
    if (!file || fclose(file)) {
        perror(path);
        exit(1);
    }
    return n;
}

/* ---- shaders that print ---- */

struct action {
    VkShaderModule module;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

static struct action make_action(const struct device *d, const char *path)
{
    static _Thread_local uint32_t code[1 << 16];
    struct action ret;
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = read_file(path, code, sizeof code),
        .pCode = code,
    };
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
    };
    must(vkCreateShaderModule(d->handle, &module, NULL, &ret.module), path);
    must(vkCreatePipelineLayout(d->handle, &layout, NULL, &ret.layout), path);
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = ret.module,
            .pName = "main",
        },
        .layout = ret.layout,
    };
    must(vkCreateComputePipelines(d->handle, NULL, 1, &pipeline, NULL,
                                  &ret.pipeline),
         path);
    const char *slash = strrchr(path, '/');
    name(d, VK_OBJECT_TYPE_PIPELINE, (uint64_t)(uintptr_t)ret.pipeline,
         slash ? slash + 1 : path);
    return ret;
}

static void free_action(const struct device *d, const struct action *a)
{
    vkDestroyPipeline(d->handle, a->pipeline, NULL);
    vkDestroyPipelineLayout(d->handle, a->layout, NULL);
    vkDestroyShaderModule(d->handle, a->module, NULL);
}

/* arguments: n pairs of a shader and how many groups. */
static void print(const struct device *d, int n, char **arguments)
{
    struct action actions[ACTIONS_MAX];
    n = n < ACTIONS_MAX ? n : ACTIONS_MAX;
    begin(d);
    for (int i = 0; i < n; i++) {
        actions[i] = make_action(d, arguments[2 * i]);
        vkCmdBindPipeline(d->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                          actions[i].pipeline);
        vkCmdDispatch(d->commands, (uint32_t)atoi(arguments[2 * i + 1]), 1, 1);
    }
    submit(d);
    if (settle_ms())
        must(vkDeviceWaitIdle(d->handle), "settle");
    for (int i = 0; i < n; i++)
        free_action(d, &actions[i]);
}

static char **thread_arguments;

/* Runs function(with + i * step) in thread i. */
static void in_threads(void *(*function)(void *), void *with, size_t step,
                       int n, char **arguments)
{
    pthread_t threads[THREADS_MAX];
    thread_arguments = arguments;
    for (int i = 0; i < n; i++) {
        pthread_create(&threads[i], NULL, function,
                       (char *)with + step * (size_t)i);
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void *print_in_thread(void *device)
{
    for (int i = 0; i < ROUNDS; i++)
        print(device, 1, thread_arguments);
    return NULL;
}

/* All devices are made before the first is used and end after the last was:
 * the validation layer keeps them in a map, and the loader in a list, that
 * every call reads and that no lock guards (both 1.3.239). */
static void print_in_threads(int n, char **arguments)
{
    struct device devices[THREADS_MAX] = { 0 };
    for (int i = 0; i < n; i++)
        open_device(&devices[i]);
    in_threads(print_in_thread, devices, sizeof *devices, n, arguments);
    for (int i = 0; i < n; i++)
        close_device(&devices[i]);
}

/* Without names, which the loader looks up in that list. */
static void *open_in_thread(void *device)
{
    struct device *d = device;
    d->is_nameless = true;
    for (int i = 0; i < ROUNDS; i++) {
        open_device(d);
        begin(d);
        submit(d);
        close_device(d);
    }
    return NULL;
}

/* ---- shaders without a module ---- */

/* Of VK_EXT_shader_object, which Debian 12's headers do not have. */
struct shader_info {
    uint32_t type; /* VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT */
    const void *next;
    VkFlags flags;
    VkShaderStageFlagBits stage;
    VkShaderStageFlags next_stage;
    uint32_t code_type; /* 1: SPIR-V */
    size_t n;
    const void *code;
    const char *entry;
    const void *more[6];
};
typedef VkResult(VKAPI_PTR *create_shaders)(VkDevice device, uint32_t n,
                                            const struct shader_info *infos,
                                            const VkAllocationCallbacks *with,
                                            uint64_t *ret);

static void show_shader(const struct device *d, const char *path)
{
    static uint32_t code[1 << 16];
    size_t n = read_file(path, code, sizeof code);
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = n,
        .pCode = code,
    };
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .pNext = &module,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .pName = "main",
        },
    };
    struct shader_info object = { .type = 1000482002,
                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                  .code_type = 1,
                                  .n = n,
                                  .code = code,
                                  .entry = "main" };
    VkPipeline unused = VK_NULL_HANDLE;
    uint64_t unused_object = 0;
    create_shaders create =
        (create_shaders)vkGetDeviceProcAddr(d->handle, "vkCreateShadersEXT");
    must(!getenv("PLAY_OBJECT")
             ? vkCreateComputePipelines(d->handle, NULL, 1, &pipeline, NULL,
                                        &unused)
         : create ? create(d->handle, 1, &object, NULL, &unused_object)
                  : VK_ERROR_EXTENSION_NOT_PRESENT,
         path);
}

/* ---- a buffer with a name ---- */

static uint32_t memory_type(const struct device *d, uint32_t types)
{
    VkPhysicalDeviceMemoryProperties memory;
    VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
        (getenv("PLAY_LOCAL") ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : 0);
    uint32_t i = 0;
    vkGetPhysicalDeviceMemoryProperties(d->physical, &memory);
    while (!(types >> i & 1) ||
           (memory.memoryTypes[i].propertyFlags & wanted) != wanted)
        i++;
    return i;
}

static size_t buffer_bytes(void)
{
    const char *n = getenv("PLAY_BYTES");
    return n ? (size_t)atol(n) : BUFFER_BYTES;
}

static VkBuffer make_buffer(const struct device *d, VkDeviceMemory *memory)
{
    VkBuffer ret;
    VkMemoryRequirements needs;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = buffer_bytes(),
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    must(vkCreateBuffer(d->handle, &info, NULL, &ret), "buffer");
    vkGetBufferMemoryRequirements(d->handle, ret, &needs);
    VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = memory_type(d, needs.memoryTypeBits),
    };
    must(vkAllocateMemory(d->handle, &allocate, NULL, memory), "memory");
    must(vkBindBufferMemory(d->handle, ret, *memory, 0), "bind");
    /* From its name on it is taken: what stands in it has to mean something. */
    void *at = NULL;
    must(vkMapMemory(d->handle, *memory, 0, VK_WHOLE_SIZE, 0, &at), "map");
    memset(at, 0, buffer_bytes());
    vkUnmapMemory(d->handle, *memory);
    name(d, VK_OBJECT_TYPE_BUFFER, (uint64_t)(uintptr_t)ret, "pfd:dump");
    return ret;
}

/* The host maps and unmaps it as it likes. */
static void look(const struct device *d, VkDeviceMemory memory,
                 const char *bytes, size_t n)
{
    void *at = NULL;
    must(vkMapMemory(d->handle, memory, 16, VK_WHOLE_SIZE, 0, &at), "map");
    if (memcmp(at, bytes + 16, n - 16) != 0) {
        fprintf(stderr, "play: the buffer holds something else\n");
        exit(1);
    }
    vkUnmapMemory(d->handle, memory);
}

static void update(const struct device *d, VkBuffer buffer, const char *bytes,
                   size_t n)
{
    for (size_t at = 0; at < n; at += UPDATE_MAX) {
        vkCmdUpdateBuffer(d->commands, buffer, at,
                          n - at < UPDATE_MAX ? n - at : UPDATE_MAX,
                          bytes + at);
    }
}

static void fill(const struct device *d, int n, char **dumps)
{
    static _Thread_local char bytes[DUMP_MAX];
    VkMemoryBarrier filled = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
    };
    VkDeviceMemory memory;
    VkBuffer buffer = make_buffer(d, &memory);
    for (int i = 0; i < n; i++) {
        size_t n_bytes = read_file(dumps[i], bytes, sizeof bytes) / 4 * 4;
        begin(d);
        vkCmdFillBuffer(d->commands, buffer, 0, VK_WHOLE_SIZE, 0);
        vkCmdPipelineBarrier(d->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &filled, 0,
                             NULL, 0, NULL);
        update(d, buffer, bytes, n_bytes);
        submit(d);
        look(d, memory, bytes, n_bytes);
    }
    vkDestroyBuffer(d->handle, buffer, NULL);
    vkFreeMemory(d->handle, memory, NULL);
}

static void *fill_in_thread(void *device)
{
    struct device d = *(const struct device *)device;
    char *dumps[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        dumps[i] = thread_arguments[0];
    make_commands(&d);
    fill(&d, ROUNDS, dumps);
    vkDestroyFence(d.handle, d.fence, NULL);
    vkDestroyCommandPool(d.handle, d.pool, NULL);
    return NULL;
}

static void open_in_threads(int n)
{
    struct device devices[THREADS_MAX] = { 0 };
    in_threads(open_in_thread, devices, sizeof *devices, n, NULL);
}

static int n_threads(const char *text)
{
    int n = atoi(text);
    return n < THREADS_MAX ? n : THREADS_MAX;
}

static void on_one_device(const char *what, int n, char **arguments)
{
    struct device d = { .is_nameless = false };
    open_device(&d);
    if (!strcmp(what, "together") && n == 2) {
        in_threads(fill_in_thread, &d, 0, n_threads(arguments[0]),
                   arguments + 1);
    } else if (!strcmp(what, "print")) {
        print(&d, n / 2, arguments);
    } else {
        if (getenv("PLAY_SHADER"))
            show_shader(&d, getenv("PLAY_SHADER"));
        fill(&d, n, arguments);
    }
    close_device(&d);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    open_instance();
    if (getenv("PLAY_MESSENGER"))
        add_messenger();
    if (!strcmp(argv[1], "threads") && argc == 5) {
        print_in_threads(n_threads(argv[2]), argv + 3);
    } else if (!strcmp(argv[1], "devices")) {
        open_in_threads(n_threads(argv[2]));
    } else {
        on_one_device(argv[1], argc - 2, argv + 2);
    }
    vkDestroyInstance(instance, NULL);
    return 0;
}
