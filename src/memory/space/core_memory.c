/* SPDX-License-Identifier: MIT */
/*
 * A core as an address space. Memory that the kernel left out because files
 * have it (code and tables of programs) is read from those files, if they are
 * the ones that were mapped: their first bytes, which hold an ELF file's
 * headers and mostly its build id, are compared with the core's.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/space/address_space.h"
#include "memory/space/core.h"

enum {
    COMPARED = 4096, /* bytes: the kernel writes this page of an ELF file */
    COMPARED_MIN = 64,
    PARTS_MAX = 64, /* of one file, next to each other */
};

/* The result of comparing a mapped file. */
enum verdict {
    NOT_ASKED,
    IS_SAME,
    IS_GONE,
    IS_OTHER,
    IS_DOUBTFUL, /* the core has no bytes to compare */
};

static const char *const reasons[] = {
    [NOT_ASKED] = "it is not in the core",
    [IS_SAME] = "it is not in the core, and beyond the end of the file that "
                "was mapped there",
    [IS_GONE] = "it is not in the core, and the file that was mapped there "
                "cannot be read",
    [IS_OTHER] = "it is not in the core, and the file that was mapped there "
                 "has changed since",
    [IS_DOUBTFUL] = "it is not in the core, and whether the file that was "
                    "mapped there is still the same cannot be told",
};

struct core_memory {
    struct pfd_memory memory; /* first: hooks get its address */
    const struct pfd_core *core;
    uint8_t *verdicts; /* [core->info.n_files] */
    int fd;            /* of file `opened`, or -1 */
    size_t opened;
};

static struct core_memory *core_of(struct pfd_memory *memory)
{
    return (struct core_memory *)memory;
}

/* ---- mapped files ---- */

/* The mapped file at an address, or the next one; n_files: none. */
static size_t find_file(const struct pfd_core *core, uint64_t address)
{
    size_t low = 0;
    size_t high = core->info.n_files;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (core->files[middle].to > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static int open_regular(const char *name)
{
    struct stat st;
    /* Opening a device may have effects. */
    if (stat(name, &st) || !S_ISREG(st.st_mode))
        return -1;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* The mapping of the same file's first bytes; n_files: none. Parts of a program
 * are mapped next to each other. */
static size_t find_start(const struct pfd_core *core, size_t i)
{
    for (size_t k = i + 1; k-- > 0 && i - k < PARTS_MAX;) {
        if (strcmp(core->files[k].name, core->files[i].name) != 0)
            break;
        if (core->files[k].offset == 0)
            return k;
    }
    return core->info.n_files;
}

static enum verdict compare(const struct pfd_core *core, size_t i, int fd)
{
    uint8_t here[COMPARED];
    uint8_t there[COMPARED];
    size_t start = find_start(core, i);
    if (start == core->info.n_files)
        return IS_DOUBTFUL;
    const struct pfd_core_file *f = &core->files[start];
    size_t n = f->to - f->from < COMPARED ? (size_t)(f->to - f->from)
                                          : (size_t)COMPARED;
    n = pfd_core_read(core, f->from, there, n);
    if (n < COMPARED_MIN || memcmp(there, "\177ELF", 4) != 0)
        return IS_DOUBTFUL;
    ssize_t got = pread(fd, here, n, 0);
    return got == (ssize_t)n && !memcmp(here, there, n) ? IS_SAME : IS_OTHER;
}

/* Opens file i, if it is the one that was mapped. */
static enum verdict open_file(struct core_memory *m, size_t i)
{
    if (m->verdicts[i] > IS_SAME || (m->fd >= 0 && m->opened == i))
        return m->verdicts[i];
    if (m->fd >= 0)
        close(m->fd);
    m->fd = open_regular(m->core->files[i].name);
    m->opened = i;
    enum verdict verdict = m->fd < 0 ? IS_GONE : compare(m->core, i, m->fd);
    m->verdicts[i] = (uint8_t)verdict;
    if (verdict != IS_SAME && m->fd >= 0) {
        close(m->fd);
        m->fd = -1;
    }
    return verdict;
}

/* Reads at most n bytes that the core lacks. */
static void read_file(struct core_memory *m, uint64_t address, void *bytes,
                      size_t n, struct pfd_memory_got *ret)
{
    const struct pfd_core *core = m->core;
    size_t i = find_file(core, address);
    ret->absent = n;
    ret->why = reasons[NOT_ASKED];
    if (i == core->info.n_files)
        return;
    const struct pfd_core_file *f = &core->files[i];
    if (f->from > address) {
        if (f->from - address < n)
            ret->absent = f->from - address;
        return;
    }
    uint64_t left = f->to - address;
    uint64_t at = f->offset + (address - f->from);
    size_t most = left < n ? (size_t)left : n;
    enum verdict verdict = open_file(m, i);
    ssize_t got = -1;
    if (verdict == IS_SAME && at <= INT64_MAX)
        got = pread(m->fd, bytes, most, (off_t)at);
    ret->n = got > 0 ? (size_t)got : 0;
    ret->absent = ret->n ? 0 : most;
    ret->why = reasons[verdict];
}

/* ---- hooks ---- */

static enum pfd_status read_core(struct pfd_memory *memory, uint64_t address,
                                 void *bytes, size_t n,
                                 struct pfd_memory_got *ret,
                                 struct pfd_error *err)
{
    struct core_memory *m = core_of(memory);
    uint64_t left = 0;
    const void *there = pfd_core_bytes(m->core, address, &left);
    size_t most = left < n ? (size_t)left : n;
    (void)err;
    *ret = (struct pfd_memory_got){ 0 };
    if (there) {
        memcpy(bytes, there, most);
        ret->n = most;
    } else {
        read_file(m, address, bytes, most, ret);
    }
    return PFD_OK;
}

static void close_core(struct pfd_memory *memory)
{
    struct core_memory *m = core_of(memory);
    if (m->fd >= 0)
        close(m->fd);
    free(m->verdicts);
    free(m);
}

static const struct pfd_memory_hooks hooks = {
    .read = read_core,
    .close = close_core,
};

/* ---- opening ---- */

static void add_segments(struct core_memory *m)
{
    const struct pfd_core *core = m->core;
    for (size_t i = 0; i < core->info.n_segments; i++) {
        const struct pfd_core_segment *s = &core->segments[i];
        size_t k = find_file(core, s->address);
        const struct pfd_core_file *f =
            k < core->info.n_files ? &core->files[k] : NULL;
        bool is_file = f && f->from <= s->address;
        struct pfd_memory_region r = {
            .address = s->address,
            .size = s->n_memory,
            .present = s->n_file,
            .permissions = s->flags & 7u,
            .offset = is_file ? f->offset + (s->address - f->from) : 0,
        };
        pfd_memory_map_add(&m->memory.map, &r, is_file ? f->name : NULL,
                           is_file ? strlen(f->name) : 0);
    }
}

/* Adds the parts of mapped files that no segment covers. */
static void add_files(struct core_memory *m)
{
    const struct pfd_core *core = m->core;
    size_t k = 0; /* the first segment that ends behind `at` */
    uint64_t at = 0;
    for (size_t i = 0; i < core->info.n_files; i++) {
        const struct pfd_core_file *f = &core->files[i];
        at = f->from > at ? f->from : at;
        while (at < f->to) {
            const struct pfd_core_segment *s = &core->segments[k];
            bool is_last = k == core->info.n_segments;
            uint64_t end = is_last || s->address > f->to ? f->to : s->address;
            if (end > at) {
                struct pfd_memory_region r = {
                    .address = at,
                    .size = end - at,
                    .offset = f->offset + (at - f->from),
                };
                pfd_memory_map_add(&m->memory.map, &r, f->name,
                                   strlen(f->name));
                at = end;
            } else if (s->address + s->n_memory > at) {
                at = s->address + s->n_memory;
            } else {
                k++;
            }
        }
    }
}

static bool take_auxiliary(struct core_memory *m)
{
    const struct pfd_byte_reader *c = &m->core->auxiliary;
    if (!c->n)
        return true;
    m->memory.auxv = malloc(c->n);
    if (!m->memory.auxv)
        return false;
    memcpy(m->memory.auxv, c->base, c->n);
    m->memory.n_auxv = c->n;
    return true;
}

enum pfd_status pfd_memory_open_core(const struct pfd_core *core,
                                     struct pfd_memory **ret,
                                     struct pfd_error *err)
{
    struct core_memory *m = calloc(1, sizeof *m);
    if (!m)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    m->memory.hooks = &hooks;
    m->memory.pid = core->info.pid;
    m->memory.pid_inside = core->info.pid;
    m->memory.loaded = core->info.r_debug;
    m->core = core;
    m->fd = -1;
    m->verdicts = calloc(core->info.n_files + 1, 1);
    snprintf(m->memory.name, sizeof m->memory.name,
             core->info.pid ? "the core of process %llu" : "the core",
             (unsigned long long)core->info.pid);
    if (!m->verdicts || !take_auxiliary(m)) {
        pfd_memory_close(&m->memory);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    add_segments(m);
    add_files(m);
    enum pfd_status status = pfd_memory_map_settle(&m->memory.map, err);
    if (status != PFD_OK) {
        pfd_memory_close(&m->memory);
        return status;
    }
    *ret = &m->memory;
    return PFD_OK;
}
