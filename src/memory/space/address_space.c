/* SPDX-License-Identifier: MIT */
#include "memory/space/address_space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* ---- maps ---- */

static void memory_map_free(struct pfd_memory_map *map)
{
    free(map->at);
    pfd_arena_free(&map->names);
    *map = (struct pfd_memory_map){ 0 };
}

static bool make_room(struct pfd_memory_map *map)
{
    if (map->n < map->room)
        return true;
    size_t room = map->room ? 2 * map->room : 64;
    void *at = realloc(map->at, room * sizeof *map->at);
    if (!at)
        return false;
    map->at = at;
    map->room = room;
    return true;
}

void pfd_memory_map_add(struct pfd_memory_map *map,
                        const struct pfd_memory_region *region,
                        const char *name, size_t n_name)
{
    struct pfd_memory_region r = *region;
    if (r.size > UINT64_MAX - r.address)
        r.size = UINT64_MAX - r.address;
    if (r.present > r.size)
        r.present = r.size;
    if (!r.size || map->failed)
        return;
    char *copy = n_name ? pfd_arena_take(&map->names, n_name + 1) : NULL;
    map->failed = !make_room(map) || (n_name && !copy);
    if (map->failed)
        return;
    if (copy) {
        memcpy(copy, name, n_name);
        copy[n_name] = '\0';
    }
    r.name = copy;
    map->at[map->n++] = r;
}

static int compare(const void *a, const void *b)
{
    const struct pfd_memory_region *one = a;
    const struct pfd_memory_region *other = b;
    return one->address != other->address
               ? (one->address > other->address) -
                     (one->address < other->address)
               : (one->size < other->size) - (one->size > other->size);
}

/* Cuts a region to the part from `from` on; false: there is none. */
static bool cut(struct pfd_memory_region *r, uint64_t from)
{
    uint64_t n = from > r->address ? from - r->address : 0;
    if (n >= r->size)
        return false;
    r->address += n;
    r->size -= n;
    r->offset += n;
    r->present = r->present > n ? r->present - n : 0;
    return true;
}

enum pfd_status pfd_memory_map_settle(struct pfd_memory_map *map,
                                      struct pfd_error *err)
{
    uint64_t end = 0;
    size_t n = 0;
    if (map->failed)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    if (map->n)
        qsort(map->at, map->n, sizeof *map->at, compare);
    for (size_t i = 0; i < map->n; i++) {
        struct pfd_memory_region r = map->at[i];
        if (!cut(&r, end))
            continue;
        map->at[n++] = r;
        end = r.address + r.size;
    }
    map->n = n;
    return PFD_OK;
}

/* ---- any kind ---- */

void pfd_memory_close(struct pfd_memory *memory)
{
    if (!memory)
        return;
    memory_map_free(&memory->map);
    free(memory->auxv);
    memory->hooks->close(memory);
}

const char *pfd_memory_name(const struct pfd_memory *memory)
{
    return memory->name;
}

uint64_t pfd_memory_pid(const struct pfd_memory *memory)
{
    return memory->pid;
}

enum pfd_status pfd_memory_region(const struct pfd_memory *memory, size_t i,
                                  struct pfd_memory_region *ret)
{
    if (i >= memory->map.n)
        return PFD_END;
    *ret = memory->map.at[i];
    return PFD_OK;
}

enum pfd_status pfd_memory_find(const struct pfd_memory *memory,
                                uint64_t address, struct pfd_memory_region *ret)
{
    size_t from = 0;
    size_t to = memory->map.n;
    while (from < to) {
        size_t i = from + (to - from) / 2;
        const struct pfd_memory_region *r = &memory->map.at[i];
        if (address >= r->address && address - r->address >= r->size) {
            from = i + 1;
        } else {
            to = i;
        }
    }
    return pfd_memory_region(memory, from, ret);
}

enum pfd_status pfd_memory_refresh(struct pfd_memory *memory,
                                   struct pfd_error *err)
{
    struct pfd_memory_map fresh = { 0 };
    if (!memory->hooks->refresh)
        return PFD_OK;
    enum pfd_status status = memory->hooks->refresh(memory, &fresh, err);
    if (status == PFD_OK)
        status = pfd_memory_map_settle(&fresh, err);
    if (status != PFD_OK) {
        memory_map_free(&fresh);
        return status;
    }
    memory_map_free(&memory->map);
    memory->map = fresh;
    return PFD_OK;
}

enum pfd_status pfd_memory_check(struct pfd_memory *memory,
                                 struct pfd_error *err)
{
    return memory->hooks->check ? memory->hooks->check(memory, err) : PFD_OK;
}

int pfd_memory_open_file(struct pfd_memory *memory, const char *path)
{
    if (memory->hooks->open_file)
        return memory->hooks->open_file(memory, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return fd < 0 ? -errno : fd;
}

bool pfd_memory_auxv(const struct pfd_memory *memory, uint64_t type,
                     uint64_t *ret)
{
    uint64_t pair[2];
    for (size_t i = 0; i + sizeof pair <= memory->n_auxv; i += sizeof pair) {
        memcpy(pair, memory->auxv + i, sizeof pair);
        if (pair[0] == 0) /* AT_NULL */
            return false;
        if (pair[0] == type) {
            *ret = pair[1];
            return true;
        }
    }
    return false;
}

/* ---- reading ---- */

/* Absent ranges, joined where they touch. */
struct absence {
    pfd_memory_absent_fn fn;
    void *user;
    struct pfd_range range; /* empty: none */
    const char *why;
};

static void report_absence(struct absence *a)
{
    if (a->fn && a->range.to > a->range.from)
        a->fn(a->user, &a->range, a->why);
    a->range = (struct pfd_range){ 0 };
}

static void add_absence(struct absence *a, uint64_t from, uint64_t to,
                        const char *why)
{
    bool joins = a->range.to == from && a->range.to > a->range.from &&
                 !strcmp(a->why, why);
    if (!joins) {
        report_absence(a);
        a->range.from = from;
        a->why = why;
    }
    a->range.to = to;
}

enum pfd_status pfd_memory_read(struct pfd_memory *memory, uint64_t address,
                                void *bytes, size_t n,
                                pfd_memory_absent_fn absent, void *user,
                                size_t *n_there, struct pfd_error *err)
{
    struct absence absence = { .fn = absent, .user = user };
    size_t there = 0;
    if (n > UINT64_MAX - address) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "%zu bytes at 0x%llx are beyond the last address", n,
                        (unsigned long long)address);
    }
    for (size_t at = 0; at < n;) {
        struct pfd_memory_got got = { 0 };
        uint8_t *to = (uint8_t *)bytes + at;
        enum pfd_status status =
            memory->hooks->read(memory, address + at, to, n - at, &got, err);
        if (status != PFD_OK)
            return status;
        at += got.n;
        there += got.n;
        size_t missing = got.absent < n - at ? (size_t)got.absent : n - at;
        if (!missing)
            continue;
        memset((uint8_t *)bytes + at, 0, missing);
        add_absence(&absence, address + at, address + at + missing, got.why);
        at += missing;
    }
    report_absence(&absence);
    if (n_there)
        *n_there = there;
    return PFD_OK;
}

bool pfd_memory_take(struct pfd_memory *memory, uint64_t address, void *bytes,
                     size_t n)
{
    size_t there = 0;
    return pfd_memory_read(memory, address, bytes, n, NULL, NULL, &there,
                           NULL) == PFD_OK &&
           there == n;
}

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
