/* SPDX-License-Identifier: MIT */
/*
 * What a program's environment must say so that the Vulkan loader puts the
 * validation layer, with ours above and below it, under the program.
 */
#ifndef CLI_VULKAN_ENVIRONMENT_H
#define CLI_VULKAN_ENVIRONMENT_H

#include <stdbool.h>

struct options;

/* The name of the file with validation's settings. */
#define VULKAN_SETTINGS "vk_layer_settings.txt"

/* Where our layer is, and validation's settings at `settings` (a path), unless
 * the environment names others. False, and it was said: there is no layer, or
 * no such file can be written. */
bool vulkan_prepare(const struct options *options, const char *settings);

/* In the process that becomes the program. False: out of memory. */
bool vulkan_set_environment(const struct options *options,
                            const char *settings);

#endif
