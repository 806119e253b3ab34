/* SPDX-License-Identifier: MIT */
#include "shaders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "input.h"
#include "show/messages.h"

enum {
    MODULE_MAX = 64 << 20, /* bytes; the library's limit */
};

/* Reads a whole file; the caller frees it. NULL: an error was printed. */
static void *read_file(const char *path, size_t *n)
{
    struct stat st;
    int fd = pfd_input_is_uri(path) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    char *bytes = NULL;
    *n = 0;
    if (pfd_input_is_uri(path)) {
        struct pfd_error err;
        if (!input_copy_uri(path, &bytes, n, &err))
            message_error("%s: %s", path, err.text);
        return bytes;
    }
    if (fd < 0 || fstat(fd, &st)) {
        message_error("%s: %s", path, strerror(errno));
    } else if (!S_ISREG(st.st_mode) || st.st_size > MODULE_MAX) {
        message_error("%s: not a file of 64 MiB at most", path);
    } else if ((bytes = malloc((size_t)st.st_size + 1))) {
        ssize_t got;
        while (*n < (size_t)st.st_size &&
               (got = read(fd, bytes + *n, (size_t)st.st_size - *n)) > 0)
            *n += (size_t)got;
    } else {
        message_error("out of memory");
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

static bool read_id(const char *text, const char *end, uint32_t *ret)
{
    char *stop = NULL;
    errno = 0;
    unsigned long id = strtoul(text, &stop, 0);
    if (errno || stop == text || stop != end || *text == '-' ||
        id >= PFD_SHADER_NEXT)
        return false;
    *ret = (uint32_t)id;
    return true;
}

static bool add_file(struct pfd_strings *strings,
                     const struct pfd_shader_info *shader, pfd_finding_fn fn,
                     void *user)
{
    struct pfd_shader_info info = *shader;
    struct pfd_error err;
    void *bytes = read_file(info.source, &info.n_bytes);
    if (!bytes)
        return false;
    info.bytes = bytes;
    enum pfd_status status =
        pfd_strings_add_shader(strings, &info, fn, user, &err);
    free(bytes);
    if (status < 0)
        message_error("%s: %s", info.source, err.text);
    return status >= 0;
}

bool shaders_add(struct pfd_strings *strings, const char *text,
                 pfd_finding_fn fn, void *user)
{
    struct pfd_shader_info info = { 0 };
    const char *equals = strchr(text, '=');
    if (!equals || !read_id(text, equals, &info.id)) {
        message_error("not ID=FILE: '%s'", text);
        return false;
    }
    info.source = equals + 1;
    return add_file(strings, &info, fn, user);
}

/* ---- maps ---- */

/* Returns path, taken relative to the folder of the file `from`; the caller
 * frees it. */
static char *beside(const char *from, const char *path)
{
    const char *slash = strrchr(from, '/');
    size_t n = slash && *path != '/' ? (size_t)(slash - from) + 1 : 0;
    char *ret = malloc(n + strlen(path) + 1);
    if (!ret)
        return NULL;
    memcpy(ret, from, n);
    memcpy(ret + n, path, strlen(path) + 1);
    return ret;
}

static uint64_t read_handle(const json_t *value)
{
    if (json_is_string(value))
        return strtoull(json_string_value(value), NULL, 0);
    return (uint64_t)json_integer_value(value);
}

static bool walk_member(const char *map, const char *key, const json_t *value,
                        shader_fn fn, void *user)
{
    struct pfd_shader_info info = { 0 };
    const char *path = json_string_value(
        json_is_object(value) ? json_object_get(value, "spv") : value);
    if (!path || !read_id(key, key + strlen(key), &info.id)) {
        message_error("%s: shader '%s' is not an id and a path", map, key);
        return false;
    }
    char *source = beside(map, path);
    if (!source) {
        message_error("out of memory");
        return false;
    }
    info.source = source;
    info.name = json_string_value(json_object_get(value, "name"));
    info.handle = read_handle(json_object_get(value, "handle"));
    bool ok = fn(user, &info);
    free(source);
    return ok;
}

static void read_object(const json_t *value, struct pfd_vulkan_object *ret)
{
    ret->name = json_string_value(json_object_get(value, "name"));
    ret->handle = read_handle(json_object_get(value, "handle"));
}

static enum pfd_vulkan_action read_action(const json_t *value)
{
    const char *text = json_string_value(value);
    if (!text)
        return PFD_ACTION_UNKNOWN;
    return !strcmp(text, "compute")       ? PFD_ACTION_DISPATCH
           : !strcmp(text, "graphics")    ? PFD_ACTION_DRAW
           : !strcmp(text, "ray_tracing") ? PFD_ACTION_TRACE_RAYS
                                          : PFD_ACTION_UNKNOWN;
}

static bool set_capture(struct pfd_strings *strings, const json_t *root)
{
    struct pfd_vulkan_capture capture = { 0 };
    struct pfd_error err;
    read_object(json_object_get(root, "command_buffer"),
                &capture.command_buffer);
    read_object(json_object_get(root, "pipeline"), &capture.pipeline);
    capture.action = read_action(json_object_get(root, "bind_point"));
    capture.action_index =
        (uint32_t)json_integer_value(json_object_get(root, "operation_index"));
    capture.verbose = json_is_true(json_object_get(root, "verbose"));
    const json_t *groups = json_object_get(json_object_get(root, "limits"),
                                           "maxComputeWorkGroupCount");
    for (size_t i = 0; i < 3; i++) {
        capture.max_work_groups[i] =
            (uint32_t)json_integer_value(json_array_get(groups, i));
    }
    if (pfd_strings_set_capture(strings, &capture, &err) == PFD_OK)
        return true;
    message_error("%s", err.text);
    return false;
}

/* Loads the map, and finds the shaders in it. NULL: an error was printed. */
static json_t *load_map(const char *path, json_t **shaders)
{
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    *shaders = json_object_get(root, "shaders");
    if (!*shaders)
        *shaders = root;
    if (!root) {
        message_error("%s: %s", path, error.text);
    } else if (!json_is_object(*shaders)) {
        message_error("%s: no object of shaders", path);
        json_decref(root);
        root = NULL;
    }
    return root;
}

static bool walk(const char *path, json_t *shaders, shader_fn fn, void *user)
{
    const char *key;
    json_t *value;
    bool ok = true;
    json_object_foreach(shaders, key, value)
    {
        ok = walk_member(path, key, value, fn, user) && ok;
    }
    return ok;
}

bool shaders_walk_map(const char *path, shader_fn fn, void *user,
                      bool *says_more)
{
    json_t *shaders = NULL;
    json_t *root = load_map(path, &shaders);
    bool ok = root && walk(path, shaders, fn, user);
    *says_more = root && shaders != root && json_object_size(root) > 1;
    json_decref(root);
    return ok;
}

struct addition {
    struct pfd_strings *strings;
    pfd_finding_fn fn;
    void *user;
};

static bool add_one(void *user, const struct pfd_shader_info *info)
{
    const struct addition *to = user;
    return add_file(to->strings, info, to->fn, to->user);
}

bool shaders_add_map(struct pfd_strings *strings, const char *path,
                     pfd_finding_fn fn, void *user)
{
    struct addition to = { strings, fn, user };
    json_t *shaders = NULL;
    json_t *root = load_map(path, &shaders);
    bool ok = root && walk(path, shaders, add_one, &to);
    if (root && shaders != root)
        ok = set_capture(strings, root) && ok;
    json_decref(root);
    return ok;
}
