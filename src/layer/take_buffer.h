/* SPDX-License-Identifier: MIT */
/*
 * From a buffer that the GPU is done with to frames. All of it under the
 * device's lock.
 */
#ifndef LAYER_TAKE_BUFFER_H
#define LAYER_TAKE_BUFFER_H

#include "device.h"

/* Validation's buffer of one action, if there is anything in it. */
void take_use(struct device *device, struct buffer *buffer,
              const struct use *use);

/* The named ones, as far as they have changed since. */
void take_named(struct device *device);

/* What is in the buffer now goes, since it is to be destroyed. */
void take_last(struct device *device, struct buffer *buffer);

/* Likewise for the buffers in memory that is to be freed. */
void take_memory(struct device *device, VkDeviceMemory memory);

/* The device goes, or is lost: named buffers are as they stand. */
void take_end(struct device *device);

/* Work is submitted: named buffers that the host has begun anew since they
 * were taken are seen now or never. */
void take_look(struct device *device);

#endif
