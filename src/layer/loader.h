/* SPDX-License-Identifier: MIT */
/* What the Vulkan loader gives to layers that are created. Any thread. */
#ifndef LAYER_LOADER_H
#define LAYER_LOADER_H

#include <stdbool.h>

#include "dispatch.h"

/* The loader's structure of this type and function in a list: a
 * VkLayerInstanceCreateInfo, or a VkLayerDeviceCreateInfo, which begins like
 * it. NULL: there is none. */
void *loader_find(const void *next, VkStructureType type,
                  VkLayerFunction function);

/* Does the program enable VK_EXT_debug_utils? */
bool loader_has_debug_utils(const VkInstanceCreateInfo *info);

#endif
