/* SPDX-License-Identifier: MIT */
/*
 * Copies buffers in a device's own memory into memory that the processor
 * caches, by the device.
 */
#ifndef LAYER_GPU_COPY_H
#define LAYER_GPU_COPY_H

#include "device.h"

/* Can the device have buffers that are worth it? The memory types are known. */
bool gpu_copy_is_useful(const VkPhysicalDeviceMemoryProperties *types);

/*
 * Copies the bytes [from, from + n) of a buffer to ret. No unfinished work may
 * write the buffer. The work that wrote it last ran on a queue of the same
 * family. The caller holds the device's lock; the copy takes no longer than a
 * second. False: it cannot be done, and nothing of ret is valid.
 */
bool gpu_copy(struct device *device, struct own_queue *queue,
              const struct buffer *buffer, size_t from, size_t n, char *ret);

/* A buffer, or a memory (the other is null), is about to be destroyed: waits for
 * a copy from it that took too long and may still be at work. The caller holds
 * the device's lock. */
void gpu_copy_settle(struct device *device, VkBuffer buffer,
                     VkDeviceMemory memory);

/* Keeps gpu_copy() from using its queues meanwhile: a program that waits for
 * the whole device uses them all. */
void gpu_copy_suspend(struct device *device);
void gpu_copy_resume(struct device *device);

/* Frees its objects; the device does nothing more. */
void gpu_copy_forget(struct device *device);

#endif
