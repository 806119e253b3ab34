/* SPDX-License-Identifier: MIT */
#include "loader.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *loader_find(const void *next, VkStructureType type,
                  VkLayerFunction function)
{
    const VkBaseInStructure *at = next;
    for (; at; at = at->pNext) {
        VkLayerInstanceCreateInfo *link = (void *)(uintptr_t)at;
        if (at->sType == type && link->function == function)
            return link;
    }
    return NULL;
}

bool loader_has_debug_utils(const VkInstanceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (!strcmp(info->ppEnabledExtensionNames[i],
                    VK_EXT_DEBUG_UTILS_EXTENSION_NAME))
            return true;
    }
    return false;
}
