/* SPDX-License-Identifier: MIT */
#include "validation.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define VERSION(major, minor, patch) VK_MAKE_API_VERSION(0, major, minor, patch)

enum {
    ERRORS_MAX = 4096, /* records of errors in a buffer */
    ERRORS_HEAD = 2,   /* dwords before them */
    NO_BINDING = -1,
    RECORD_MIN = 4, /* dwords of the smallest record */
};

/* The bindings that a version, and later ones, write to; the last row that is
 * not newer counts. */
static const struct age {
    uint32_t since;
    int errors;      /* binding */
    int printf;      /* binding; NO_BINDING: a set of its own, which modules
                        name */
    uint32_t dwords; /* of an error's record; 0: any number */
} ages[] = {
    { VERSION(1, 0, 0), 0, NO_BINDING, 0 },
    { VERSION(1, 3, 283), 0, NO_BINDING, 16 },
    { VERSION(1, 4, 304), 1, 0, 16 },
    { VERSION(1, 4, 313), 1, 0, 12 },
};

static const char file_name[] = "khronos_validation";

bool validation_has(PFN_vkGetInstanceProcAddr function)
{
    Dl_info info;
    void *address;
    memcpy(&address, &function, sizeof address);
    return dladdr(address, &info) && info.dli_fname &&
           strstr(info.dli_fname, file_name);
}

static int find(struct dl_phdr_info *info, size_t n, void *found)
{
    const char **ret = found;
    if (info->dlpi_name && strstr(info->dlpi_name, file_name))
        *ret = info->dlpi_name;
    return *ret != NULL;
}

static const char *path(void)
{
    const char *ret = NULL;
    dl_iterate_phdr(find, &ret);
    return ret;
}

bool validation_is_loaded(void)
{
    return path() != NULL;
}

uint32_t validation_version(void)
{
    PFN_vkEnumerateInstanceLayerProperties get = NULL;
    VkLayerProperties properties;
    uint32_t n = 1;
    const char *name = path();
    void *library = name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol =
        library ? dlsym(library, "vkEnumerateInstanceLayerProperties") : NULL;
    memcpy(&get, &symbol, sizeof get);
    bool ok = get && get(&n, &properties) == VK_SUCCESS && n == 1;
    if (library)
        dlclose(library);
    return ok ? properties.specVersion : 0;
}

static const struct age *age_of(uint32_t version)
{
    const struct age *ret = NULL;
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++)
        ret = ages[i].since <= version ? &ages[i] : ret;
    return ret;
}

enum contents validation_binding(uint32_t version, uint32_t binding)
{
    const struct age *age = age_of(version);
    if (age && age->errors == (int)binding)
        return CONTENTS_GPUAV;
    if (age && age->printf == (int)binding)
        return CONTENTS_DEBUGPRINTF;
    return CONTENTS_UNKNOWN;
}

bool validation_is_errors_size(uint32_t version, VkDeviceSize size)
{
    const struct age *age = age_of(version);
    return age && age->dwords &&
           size == 4 * (ERRORS_MAX * (VkDeviceSize)age->dwords + ERRORS_HEAD);
}

/* Tests the flags, the number of written dwords, and the size of the first
 * record, if it is written already. */
bool validation_is_errors(uint32_t version, const char *bytes, size_t n)
{
    const struct age *age = age_of(version);
    uint32_t head[ERRORS_HEAD + 1] = { 0 };
    memcpy(head, bytes, n < sizeof head ? n : sizeof head);
    return age && age->dwords && head[1] && head[1] % age->dwords == 0 &&
           (head[2] == age->dwords || !head[2]);
}

/* A header is a count, or flags and a count. Versions differ in that for
 * debugPrintf, where flags are smaller than any count. */
struct validation_count validation_count(uint32_t version,
                                         enum contents contents,
                                         const uint32_t head[2])
{
    struct validation_count ret = { .end = UINT64_MAX };
    if (contents == CONTENTS_DEBUGPRINTF) {
        ret.dword = head[0] < RECORD_MIN;
    } else if (contents == CONTENTS_GPUAV && version) {
        ret.dword = version >= VERSION(1, 3, 236);
    } else {
        return ret;
    }
    ret.end = sizeof *head * (head[ret.dword] + (uint64_t)ret.dword + 1);
    return ret;
}

bool validation_checks_formats(uint32_t version)
{
    return version >= VERSION(1, 3, 296);
}

bool validation_knows_pointers(uint32_t version)
{
    return version >= VERSION(1, 4, 313);
}

bool validation_is_known(uint32_t version)
{
    return version <= VERSION(1, 4, 350);
}
