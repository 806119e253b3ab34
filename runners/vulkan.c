/* SPDX-License-Identifier: MIT */
#include "vulkan.h"

#include <stdio.h>

#include "core/base/dynamic_library.h"

#define NAME(name) "vk" #name "\0"

struct vulkan vk;

PFD_DYNAMIC_LIBRARY(vulkan, "libvulkan.so.1", VULKAN_CALLS(NAME), &vk,
                    "runs shaders");

bool vulkan_load(void)
{
    struct pfd_error err;
    if (pfd_dynamic_library_load(&pfd_library_vulkan, &err) == PFD_OK)
        return true;
    fprintf(stderr, "Vulkan: %s (Debian: libvulkan1)\n", err.text);
    return false;
}
