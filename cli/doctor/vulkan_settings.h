/* SPDX-License-Identifier: MIT */
/* The settings of Vulkan's validation layer that are in force, and where they
 * come from. */
#ifndef CLI_VULKAN_SETTINGS_H
#define CLI_VULKAN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

struct vulkan_setting {
    const char *name; /* such as "khronos_validation.enables", or a variable */
    const char *value;
};

enum settings_place {
    SETTINGS_NOWHERE,
    SETTINGS_OF_USER,     /* vkconfig's, which hides the others */
    SETTINGS_BY_VARIABLE, /* VK_LAYER_SETTINGS_PATH */
    SETTINGS_OF_FOLDER,   /* the folder where the program starts */
};

struct vulkan_settings {
    enum settings_place place;
    char path[4096];            /* of the file; empty: there is none */
    struct vulkan_setting *all; /* [n]: of the file, then of variables */
    size_t n;
    size_t n_of_file;
    char *text; /* of the file: owner of names and values */
};

/* by_variable: the value of VK_LAYER_SETTINGS_PATH, or NULL. */
void vulkan_settings_read(struct vulkan_settings *ret, const char *by_variable);
void vulkan_settings_free(struct vulkan_settings *settings);

/* Is there a setting that ends in this name, with this word in its value? A NULL
 * word: any value. */
bool vulkan_settings_have(const struct vulkan_settings *settings,
                          const char *name, const char *word);

/* Do they let shaders print; do they let shaders be checked? */
bool vulkan_settings_print(const struct vulkan_settings *settings);
bool vulkan_settings_check(const struct vulkan_settings *settings);

/* Words for the place, such as "VK_LAYER_SETTINGS_PATH". */
const char *settings_place_name(enum settings_place place);

#endif
