/* SPDX-License-Identifier: MIT */
/* As much of Vulkan as it takes to run a shader once. What fails is said, and
 * ends the program: status 77 where there is no device, 1 otherwise. */
#ifndef RUNNERS_GPU_H
#define RUNNERS_GPU_H

#include "shader.h"
#include "vulkan.h"

struct gpu {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family; /* of queues: compute and, if there is one, graphics */
    VkCommandPool pool;
    VkCommandBuffer commands; /* recorded between gpu_begin() and gpu_end() */
};
extern struct gpu gpu;

/* Memory that host and device see, all zero to begin with. */
struct gpu_buffer {
    VkBuffer buffer;
    VkDeviceMemory device_memory;
    size_t n_bytes;
    void *memory; /* [n_bytes] */
};

void gpu_must(VkResult result, const char *what);

/* Opens the first device, with all features that it has. */
void gpu_open(void);
void gpu_close(void);

/* Freed by gpu_close(). */
struct gpu_buffer gpu_buffer(size_t n_bytes);

/* Memory of a kind that `bits` allow and that has these properties. */
VkDeviceMemory gpu_memory(VkMemoryRequirements needs,
                          VkMemoryPropertyFlags properties);

VkShaderModule gpu_module(const struct shader *shader);

/* A pipeline's layout with these buffers, and the sets, bound at `point`
 * while commands are recorded. */
VkPipelineLayout gpu_layout(const struct shader *shader,
                            VkShaderStageFlags stages);
void gpu_bind(const struct shader *shader, const struct gpu_buffer *buffers,
              VkPipelineBindPoint point);

/* Records commands; runs them, and waits until they are done. */
void gpu_begin(void);
void gpu_end(void);

/* Runs groups[3] workgroups of a compute shader whose resource i is buffer i,
 * and waits until they are done. */
void gpu_dispatch(const struct shader *shader, const struct gpu_buffer *buffers,
                  const uint32_t *groups);

#endif
