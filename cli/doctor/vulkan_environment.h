/* SPDX-License-Identifier: MIT */
/*
 * Sets the environment of a program so that the Vulkan loader loads the
 * validation layer, between two layers of ours.
 */
#ifndef CLI_VULKAN_ENVIRONMENT_H
#define CLI_VULKAN_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* What shaders report through the validation layer. */
struct vulkan_options {
    bool debug_printf;     /* what they print */
    bool gpu_validation;   /* errors that it finds in them */
    uint64_t buffer_bytes; /* of validation's buffer for each draw and dispatch;
                              0: not given */
};

/* Name of the file with validation's settings. */
#define VULKAN_SETTINGS "vk_layer_settings.txt"

/* Name of the file where the layer says how large buffers should have been. */
#define VULKAN_REPORT "vulkan_report"

enum {
    VULKAN_PATH_BYTES = 4096
};

/* The folder of our layers' manifests, beside this program, where it was built or
 * installed. False: it is not there. */
bool vulkan_find_layers(char ret[VULKAN_PATH_BYTES]);

/* Writes validation's settings. False: an error was printed. */
bool vulkan_write_settings(const char *path, const struct vulkan_options *o);

/* Finds our layer, and writes validation's settings to `settings` (a path),
 * unless the environment names others. False: there is no layer, or the file
 * cannot be written; an error was printed. */
bool vulkan_prepare(const struct vulkan_options *options, const char *settings);

/* settings, report: paths of the files. Called in the child process before exec.
 * False: out of memory. */
bool vulkan_set_environment(const struct vulkan_options *options,
                            const char *settings, const char *report);

/* Prints how large buffers should have been, if some were too small. */
void vulkan_message_report(const char *report);

#endif
