/* SPDX-License-Identifier: MIT */
#include "vulkan_settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/options.h"

enum {
    TEXT_MAX = 1 << 20
};

static const char file_name[] = "vk_layer_settings.txt";

/* ---- the file ---- */

static bool is_there(const char *path, mode_t type)
{
    struct stat st;
    return !stat(path, &st) && (st.st_mode & S_IFMT) == type;
}

/* Joins two parts of a path; false: it is too long, or no file. */
static bool is_file_in(struct vulkan_settings *s, const char *folder,
                       const char *below)
{
    int n =
        snprintf(s->path, sizeof s->path, "%s%s%s", folder, below, file_name);
    return n > 0 && n < (int)sizeof s->path && is_there(s->path, S_IFREG);
}

static bool find_of_user(struct vulkan_settings *s)
{
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    if (data && *data)
        return is_file_in(s, data, "/vulkan/settings.d/");
    return home && *home &&
           is_file_in(s, home, "/.local/share/vulkan/settings.d/");
}

static bool find_by_variable(struct vulkan_settings *s, const char *variable)
{
    if (!variable || !*variable)
        return false;
    if (is_there(variable, S_IFDIR))
        return is_file_in(s, variable, "/");
    int n = snprintf(s->path, sizeof s->path, "%s", variable);
    return n < (int)sizeof s->path && is_there(variable, S_IFREG);
}

/* The layer's order. */
static enum settings_place find(struct vulkan_settings *s, const char *variable)
{
    if (find_of_user(s))
        return SETTINGS_OF_USER;
    if (find_by_variable(s, variable))
        return SETTINGS_BY_VARIABLE;
    if (is_file_in(s, "", ""))
        return SETTINGS_OF_FOLDER;
    *s->path = '\0';
    return SETTINGS_NOWHERE;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *ret = file ? malloc(TEXT_MAX + 1) : NULL;
    if (file && !ret)
        exit_without_memory();
    if (ret)
        ret[fread(ret, 1, TEXT_MAX, file)] = '\0';
    if (file)
        fclose(file);
    return ret;
}

/* ---- settings ---- */

static void add(struct vulkan_settings *s, const char *name, const char *value)
{
    s->all = options_append(s->all, &s->n, sizeof *s->all);
    s->all[s->n - 1] = (struct vulkan_setting){ name, value };
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

/* Lines of "name = value"; # begins a comment. */
static void add_lines(struct vulkan_settings *s)
{
    char *rest = NULL;
    for (char *line = strtok_r(s->text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        line[strcspn(line, "#\r")] = '\0';
        char *equals = strchr(line, '=');
        if (!equals)
            continue;
        *equals = '\0';
        add(s, trim(line), trim(equals + 1));
    }
    s->n_of_file = s->n;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Variables that set what the file sets; the others say where things are. */
static bool is_setting(const char *variable)
{
    static const char *const places[] = { "VK_LAYER_PATH=",
                                          "VK_LAYER_SETTINGS_PATH=" };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (begins(variable, places[i]))
            return false;
    }
    return begins(variable, "VK_LAYER_") ||
           begins(variable, "VK_KHRONOS_VALIDATION_") ||
           begins(variable, "VK_VALIDATION_") ||
           begins(variable, "DEBUG_PRINTF_");
}

/* Names are cut off their values in a copy, which the text owns. */
static void add_variables(struct vulkan_settings *s)
{
    for (char **at = environ; *at; at++) {
        const char *equals = strchr(*at, '=');
        if (equals && is_setting(*at))
            add(s, *at, equals + 1);
    }
}

void vulkan_settings_read(struct vulkan_settings *ret, const char *by_variable)
{
    *ret = (struct vulkan_settings){ 0 };
    ret->place = find(ret, by_variable);
    if (ret->place)
        ret->text = read_text(ret->path);
    if (ret->text)
        add_lines(ret);
    add_variables(ret);
}

void vulkan_settings_free(struct vulkan_settings *settings)
{
    free(settings->all);
    free(settings->text);
    *settings = (struct vulkan_settings){ 0 };
}

/* ---- what they say ---- */

/* Names of variables end at =. */
static bool ends_in(const char *name, const char *end)
{
    size_t n = strcspn(name, "=");
    size_t n_end = strlen(end);
    return n >= n_end && !strncasecmp(name + n - n_end, end, n_end);
}

bool vulkan_settings_have(const struct vulkan_settings *settings,
                          const char *name, const char *word)
{
    for (size_t i = 0; i < settings->n; i++) {
        const struct vulkan_setting *s = &settings->all[i];
        if (ends_in(s->name, name) && (!word || strcasestr(s->value, word)))
            return true;
    }
    return false;
}

static bool is_on(const struct vulkan_settings *s, const char *name)
{
    return vulkan_settings_have(s, name, "true") ||
           vulkan_settings_have(s, name, "1");
}

bool vulkan_settings_print(const struct vulkan_settings *settings)
{
    return vulkan_settings_have(settings, "enables", "DEBUG_PRINTF") ||
           vulkan_settings_have(settings, "validate_gpu_based",
                                "DEBUG_PRINTF") ||
           is_on(settings, "printf_enable") ||
           is_on(settings, "printf_only_preset");
}

bool vulkan_settings_check(const struct vulkan_settings *settings)
{
    return vulkan_settings_have(settings, "enables", "GPU_ASSISTED") ||
           vulkan_settings_have(settings, "validate_gpu_based",
                                "GPU_BASED_GPU_ASSISTED") ||
           is_on(settings, "gpuav_enable");
}

const char *settings_place_name(enum settings_place place)
{
    static const char *const names[] = {
        [SETTINGS_NOWHERE] = "nowhere",
        [SETTINGS_OF_USER] = "vkconfig's folder",
        [SETTINGS_BY_VARIABLE] = "VK_LAYER_SETTINGS_PATH",
        [SETTINGS_OF_FOLDER] = "the folder of the program's start",
    };
    return names[place];
}
