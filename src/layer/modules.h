/* SPDX-License-Identifier: MIT */
/*
 * Shader modules: what they say of validation's buffers, and copies of those
 * that a reader needs, until they are given to it. Under the device's lock.
 */
#ifndef LAYER_MODULES_H
#define LAYER_MODULES_H

#include "device.h"

/* [n] bytes of SPIR-V, borrowed. handle may be null. A module that prints
 * nothing is kept until it is destroyed: it goes along once validation has made
 * another one of it that looks for errors. */
void modules_add(struct device *device, VkShaderModule handle,
                 const uint32_t *words, size_t n);

/* The module is to be destroyed: it keeps the name that it has. */
void modules_name(struct device *device, VkShaderModule handle);

/* To the device's outlet, those that were not given yet. */
void modules_give(struct device *device);

void modules_free(struct device *device);

#endif
