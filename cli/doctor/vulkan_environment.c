/* SPDX-License-Identifier: MIT */
#include "vulkan_environment.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "show/messages.h"

enum {
    PATH_BYTES = VULKAN_PATH_BYTES,
    BUFFER_BYTES = 1 << 20, /* for each draw and dispatch */
    TAKEN_BYTES = 64 << 20, /* the layer's own limit */
};

static const char manifest[] = "VkLayer_PFD_messages.json";
static const char validation_manifest[] = "VkLayer_khronos_validation.json";

/* A meta-layer for our upper layer, validation, and our lower layer, in this
 * order. */
static const char all_layers[] = "VK_LAYER_PFD_debug_printf";

/* ---- finding the layer ---- */

static bool has_file(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n < (int)sizeof path && !access(path, R_OK);
}

bool vulkan_find_layers(char ret[VULKAN_PATH_BYTES])
{
    static const char *const places[] = { "../src/layer",
                                          "../share/vulkan/explicit_layer.d" };
    char self[PATH_BYTES - 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    const char *folder = n > 0 ? dirname(self) : ".";
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(ret, PATH_BYTES, "%s/%s", folder, places[i]);
        if (has_file(ret, manifest))
            return true;
    }
    return false;
}

/* Searches the folders of a list with colons; below: a subfolder of each. */
static bool is_in_list(const char *list, const char *below, const char *name)
{
    char folder[PATH_BYTES];
    while (list && *list) {
        size_t n = strcspn(list, ":");
        int length =
            snprintf(folder, sizeof folder, "%.*s%s", (int)n, list, below);
        if (n && length < (int)sizeof folder && has_file(folder, name))
            return true;
        list += n + (list[n] == ':');
    }
    return false;
}

/* Searches like the Vulkan loader: in /usr and by the environment. */
static bool is_installed(const char *name)
{
    static const char below[] = "/vulkan/explicit_layer.d";
    const char *only = getenv("VK_LAYER_PATH");
    if (only)
        return is_in_list(only, "", name);
    return is_in_list(getenv("VK_ADD_LAYER_PATH"), "", name) ||
           is_in_list(getenv("XDG_DATA_HOME"), below, name) ||
           is_in_list(getenv("XDG_DATA_DIRS"), below, name) ||
           is_in_list(getenv("HOME"), "/.local/share/vulkan/explicit_layer.d",
                      name) ||
           is_in_list("/etc:/usr/local/etc:/usr/local/share:/usr/share", below,
                      name);
}

/* ---- validation ---- */

/* Enables debugPrintf or GPU-AV only, like validation's own presets. Its
 * messages are not shown twice; our upper layer shows its errors. Has the names
 * of settings of today and until 2023: each version ignores the other's. */
static const char settings_text[] =
    "khronos_validation.disables = "
    "VK_VALIDATION_FEATURE_DISABLE_THREAD_SAFETY_EXT,"
    "VK_VALIDATION_FEATURE_DISABLE_OBJECT_LIFETIMES_EXT,"
    "VK_VALIDATION_FEATURE_DISABLE_API_PARAMETERS_EXT,"
    "VK_VALIDATION_FEATURE_DISABLE_CORE_CHECKS_EXT\n"
    "khronos_validation.printf_to_stdout = false\n"
    "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_IGNORE\n";

static const char printf_text[] =
    "khronos_validation.enables = "
    "VK_VALIDATION_FEATURE_ENABLE_DEBUG_PRINTF_EXT\n"
    "khronos_validation.printf_enable = true\n"
    "khronos_validation.printf_only_preset = true\n";

static const char checks_text[] =
    "khronos_validation.enables = "
    "VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT\n"
    "khronos_validation.gpuav_enable = true\n";

static const char both_text[] =
    "khronos_validation.enables = "
    "VK_VALIDATION_FEATURE_ENABLE_DEBUG_PRINTF_EXT,"
    "VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT\n"
    "khronos_validation.gpuav_enable = true\n"
    "khronos_validation.printf_enable = true\n";

bool vulkan_write_settings(const char *path, const struct vulkan_options *o)
{
    const char *size =
        o->buffer_bytes ? NULL : getenv("VK_LAYER_PRINTF_BUFFER_SIZE");
    char number[24];
    FILE *file = fopen(path, "we");
    snprintf(number, sizeof number, "%" PRIu64,
             o->buffer_bytes ? o->buffer_bytes : BUFFER_BYTES);
    if (file) {
        fputs(settings_text, file);
        fputs(!o->gpu_validation ? printf_text
              : o->debug_printf  ? both_text
                                 : checks_text,
              file);
        fprintf(file, "khronos_validation.printf_buffer_size = %s\n",
                size ? size : number);
    }
    if (file && !fclose(file))
        return true;
    message_error("%s: %s", path, strerror(errno));
    return false;
}

bool vulkan_prepare(const struct vulkan_options *o, const char *settings)
{
    char folder[PATH_BYTES];
    if (!is_installed(validation_manifest)) {
        message_error("there is no validation layer%s (Debian: "
                      "vulkan-validationlayers)",
                      getenv("VK_LAYER_PATH") ? " where VK_LAYER_PATH points"
                                              : "");
        return false;
    }
    if (!vulkan_find_layers(folder) && !is_installed(manifest)) {
        message_error("there is no %s: it is built where Vulkan's headers are "
                      "(Debian: libvulkan-dev)",
                      manifest);
        return false;
    }
    if (!getenv("VK_LAYER_SETTINGS_PATH"))
        return vulkan_write_settings(settings, o);
    if (o->buffer_bytes) {
        message_error("--buffer-bytes: VK_LAYER_SETTINGS_PATH has its own "
                      "printf_buffer_size");
    }
    return !o->buffer_bytes;
}

/* ---- the environment ---- */

/* Appends to the variable, after a colon. */
static bool append(const char *name, const char *value)
{
    const char *before = getenv(name);
    char *both = NULL;
    if (!before || !*before)
        return !setenv(name, value, 1);
    if (asprintf(&both, "%s:%s", before, value) < 0)
        return false;
    bool ok = !setenv(name, both, 1);
    free(both);
    return ok;
}

/* Removes layers that the meta-layer contains from the variable. */
static bool set_layers(void)
{
    static const char *const members[] = { "VK_LAYER_KHRONOS_validation",
                                           "VK_LAYER_PFD_capture",
                                           "VK_LAYER_PFD_messages",
                                           all_layers };
    const char *before = getenv("VK_INSTANCE_LAYERS");
    char *copy = strdup(before ? before : "");
    char *rest = NULL;
    bool ok = copy && !unsetenv("VK_INSTANCE_LAYERS");
    for (char *name = ok ? strtok_r(copy, ":", &rest) : NULL; name && ok;
         name = strtok_r(NULL, ":", &rest)) {
        bool is_member = false;
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            is_member |= !strcmp(name, members[i]);
        ok = is_member || append("VK_INSTANCE_LAYERS", name);
    }
    free(copy);
    return ok && append("VK_INSTANCE_LAYERS", all_layers);
}

/* If the environment has validation settings, those decide where messages go.
 * The layer takes as much of a buffer as fits into it. */
static bool set_layer(const struct vulkan_options *o, const char *report)
{
    const char *before = getenv("PFD_LAYER");
    char bytes[48] = "";
    char *words = NULL;
    if (getenv("VK_LAYER_SETTINGS_PATH"))
        return true;
    if (o->buffer_bytes > TAKEN_BYTES) {
        snprintf(bytes, sizeof bytes, "buffer_bytes=%" PRIu64 ",",
                 o->buffer_bytes);
    }
    if (asprintf(&words, "errors=1,drain=1,%s%s,%s%s%s",
                 strchr(report, ',') ? "" : "report=",
                 strchr(report, ',') ? "" : report, bytes,
                 o->debug_printf ? "" : "take=gpuav+named,",
                 before ? before : "") < 0)
        return false;
    bool ok = !setenv("PFD_LAYER", words, 1);
    free(words);
    return ok;
}

bool vulkan_set_environment(const struct vulkan_options *o,
                            const char *settings, const char *report)
{
    char folder[PATH_BYTES];
    bool ok = true;
    if (vulkan_find_layers(folder)) {
        ok = append(getenv("VK_LAYER_PATH") ? "VK_LAYER_PATH"
                                            : "VK_ADD_LAYER_PATH",
                    folder);
    }
    return ok && set_layers() && set_layer(o, report) &&
           !setenv("VK_LAYER_SETTINGS_PATH", settings, 0);
}

void vulkan_message_report(const char *report)
{
    FILE *file = fopen(report, "re");
    uint64_t most = 0;
    char line[32];
    while (file && fgets(line, sizeof line, file)) {
        uint64_t n = strtoull(line, NULL, 10);
        most = n > most ? n : most;
    }
    if (file)
        fclose(file);
    if (most) {
        message_hint("shaders printed more than a buffer holds: with "
                     "--buffer-bytes %" PRIu64 " nothing would have been lost",
                     most);
    }
}
