/* SPDX-License-Identifier: MIT */
#include "memory/space/mapped_range.h"

#include <string.h>

enum {
    SHARED_MAX = 64 << 20, /* bytes: a larger region counts as the process'
                              own */
};

static bool begins_with(const char *name, const char *start)
{
    return !strncmp(name, start, strlen(start));
}

static bool is_one_of(const char *name, const char *const *starts)
{
    for (; *starts; starts++) {
        if (begins_with(name, *starts))
            return true;
    }
    return false;
}

/* Reading a device may have effects; its memory has other mappings. */
bool pfd_memory_is_wanted(const struct pfd_memory_region *r)
{
    static const char *const kept[] = { "/dev/shm/", "/dev/zero",
                                        "/dev/dri/renderD", NULL };
    if (!(r->permissions & PFD_MEMORY_READ) || !r->present)
        return false;
    if (!r->name)
        return true;
    if (!strcmp(r->name, "[vvar]") || !strcmp(r->name, "[vsyscall]"))
        return false;
    return is_one_of(r->name, kept) || !begins_with(r->name, "/dev/");
}

/* Memory without a file on a disk that only this process has written: shared
 * memory may have pages that other processes made. */
static bool is_sparse(const struct pfd_memory_region *r)
{
    static const char *const names[] = { "[", "/memfd:", "/dev/zero", "/SYSV",
                                         NULL };
    bool is_shared = r->permissions & PFD_MEMORY_SHARED;
    return (!r->name || is_one_of(r->name, names)) &&
           (!is_shared || r->present > SHARED_MAX);
}

bool pfd_memory_mapped_range(struct pfd_memory *memory,
                             const struct pfd_memory_region *region,
                             uint64_t from, uint64_t to, struct pfd_range *ret)
{
    uint64_t end = region->address + region->present;
    from = from > region->address ? from : region->address;
    end = end < to ? end : to;
    if (from >= end)
        return false;
    *ret = (struct pfd_range){ from, end };
    if (!memory->hooks->populated || !is_sparse(region))
        return true;
    if (!memory->hooks->populated(memory, from, end, ret))
        return false;
    ret->from = ret->from > from ? ret->from : from;
    ret->to = ret->to < end ? ret->to : end;
    return ret->from < ret->to;
}
