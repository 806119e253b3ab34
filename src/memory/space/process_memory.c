/* SPDX-License-Identifier: MIT */
/*
 * The memory of a process. Its folder in /proc is opened once, with `mem` and
 * `maps` in it: they stay bound to that process and to the program that ran in
 * it then, even if its id is used again. Copying by id is faster; the bytes
 * count if that program still runs afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "memory/space/address_space.h"
#include "memory/space/process_status.h"

enum {
    PAGE = 4096, /* or a multiple */
    STEP = 8 << 20,
    MAPS_MAX = 256 << 20,
    AUXV_MAX = 65536,
};

struct process {
    struct pfd_memory memory;
    int pidfd;  /* -1: the system has none */
    int folder; /* in /proc */
    int mem;
    int maps;
    int pagemap;      /* -1: reading it is not permitted */
    bool by_mem_only; /* copying by id is forbidden */
};

static const char nothing_there[] = "nothing that can be read is mapped there";

static struct process *process_of(struct pfd_memory *memory)
{
    return (struct process *)memory;
}

/* ---- is it still that program? ---- */

static bool has_ended(const struct process *p)
{
    struct pollfd poll_fd = { .fd = p->pidfd, .events = POLLIN };
    return p->pidfd >= 0 && poll(&poll_fd, 1, 0) == 1;
}

/* Once the memory is gone, reading returns 0 bytes and no error. */
static bool is_gone(const struct process *p)
{
    char byte;
    return pread(p->mem, &byte, 1, 0) == 0;
}

static enum pfd_status gone(const struct process *p, struct pfd_error *err)
{
    bool ended = has_ended(p) || !pfd_process_status(p->folder).has_memory;
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                    ended ? "%s has ended" : "%s runs another program now",
                    p->memory.name);
}

static enum pfd_status check_process(struct pfd_memory *memory,
                                     struct pfd_error *err)
{
    struct process *p = process_of(memory);
    return has_ended(p) || is_gone(p) ? gone(p, err) : PFD_OK;
}

/* ---- bytes ---- */

/* The number of unreadable bytes from an address on: its page, or all up to the
 * next known mapping. */
static uint64_t absent_bytes(const struct pfd_memory *memory, uint64_t address)
{
    struct pfd_memory_region r;
    uint64_t to_page = PAGE - address % PAGE;
    if (pfd_memory_find(memory, address, &r) != PFD_OK)
        return UINT64_MAX - address;
    return r.address > address && r.address - address > to_page
               ? r.address - address
               : to_page;
}

/* Copies by the process' id; returns bytes, or a negated errno value. */
static ssize_t copy_by_id(struct process *p, uint64_t address, void *bytes,
                          size_t n)
{
    struct iovec local = { bytes, n };
    struct iovec remote = { (void *)(uintptr_t)address, n };
    ssize_t got;
    if (p->by_mem_only)
        return -EPERM;
    do {
        got = process_vm_readv((pid_t)p->memory.pid, &local, 1, &remote, 1, 0);
    } while (got < 0 && errno == EINTR);
    if (got >= 0)
        return got;
    p->by_mem_only = errno == EPERM || errno == ENOSYS;
    return -errno;
}

/* The same through `mem`, also for memory that only its driver can read. */
static ssize_t copy_by_mem(const struct process *p, uint64_t address,
                           void *bytes, size_t n)
{
    ssize_t got;
    if (address > INT64_MAX)
        return -EIO;
    do {
        got = pread(p->mem, bytes, n, (off_t)address);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

static enum pfd_status read_process(struct pfd_memory *memory, uint64_t address,
                                    void *bytes, size_t n,
                                    struct pfd_memory_got *ret,
                                    struct pfd_error *err)
{
    struct process *p = process_of(memory);
    size_t to_page = PAGE - (size_t)(address % PAGE);
    if (n > STEP)
        n = STEP;
    ssize_t got = copy_by_id(p, address, bytes, n);
    if (got <= 0) {
        if (!p->by_mem_only && n > to_page)
            n = to_page;
        got = copy_by_mem(p, address, bytes, n);
    }
    if (got <= 0 && n > to_page)
        got = copy_by_mem(p, address, bytes, to_page);
    if (has_ended(p) || is_gone(p))
        return gone(p, err);
    if (got > 0) {
        ret->n = (size_t)got;
    } else {
        ret->absent = absent_bytes(memory, address);
        ret->why = nothing_there;
    }
    return PFD_OK;
}

/* ---- mappings ---- */

/* Reads a whole file of /proc from its start: *ret [*n], freed by the caller.
 * False: see errno. */
static bool slurp(int fd, size_t n_max, char **ret, size_t *n)
{
    size_t room = 0;
    *ret = NULL;
    *n = 0;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return false;
    for (;;) {
        if (*n == room) {
            room = room ? 2 * room : 65536;
            char *more = room > n_max ? NULL : realloc(*ret, room);
            errno = ENOMEM;
            if (!more)
                return false;
            *ret = more;
        }
        ssize_t got = read(fd, *ret + *n, room - *n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        *n += (size_t)got;
    }
}

/* A line of `maps`: START-END rwxp OFFSET DEVICE INODE  NAME; see proc(5). */
static void add_line(struct pfd_memory_map *map, const char *line, size_t n)
{
    char head[128];
    unsigned long long from = 0;
    unsigned long long to = 0;
    unsigned long long offset = 0;
    char bits[5] = "";
    int at = 0;
    snprintf(head, sizeof head, "%.*s", n < 100 ? (int)n : 100, line);
    /* NOLINTNEXTLINE(cert-err34-c): the system's own lines */
    if (sscanf(head, "%llx-%llx %4s %llx %*s %*s %n", &from, &to, bits, &offset,
               &at) < 4 ||
        to <= from)
        return;
    struct pfd_memory_region r = {
        .address = from,
        .size = to - from,
        .present = to - from,
        .offset = offset,
    };
    r.permissions |= bits[0] == 'r' ? PFD_MEMORY_READ : 0u;
    r.permissions |= bits[1] == 'w' ? PFD_MEMORY_WRITE : 0u;
    r.permissions |= bits[2] == 'x' ? PFD_MEMORY_EXECUTE : 0u;
    r.permissions |= bits[3] == 's' ? PFD_MEMORY_SHARED : 0u;
    size_t name = at > 0 && (size_t)at < n ? (size_t)at : n;
    pfd_memory_map_add(map, &r, line + name, n - name);
}

static enum pfd_status refresh_process(struct pfd_memory *memory,
                                       struct pfd_memory_map *fresh,
                                       struct pfd_error *err)
{
    struct process *p = process_of(memory);
    char *text = NULL;
    size_t n = 0;
    bool ok = slurp(p->maps, MAPS_MAX, &text, &n);
    int number = errno;
    for (size_t at = 0; ok && at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t n_line = end ? (size_t)(end - (text + at)) : n - at;
        add_line(fresh, text + at, n_line);
        at += n_line + 1;
    }
    free(text);
    if (has_ended(p) || is_gone(p))
        return gone(p, err);
    if (ok)
        return PFD_OK;
    return number == ENOMEM
               ? pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory")
               : pfd_process_refused(memory->pid, p->folder, number, err);
}

/* Bits of the words of `pagemap`, one a page: "pagemap" in the kernel's
 * documentation. */
#define IN_MEMORY (UINT64_C(1) << 63)
#define IN_SWAP   (UINT64_C(1) << 62)

static bool find_populated(struct pfd_memory *memory, uint64_t from,
                           uint64_t to, struct pfd_range *ret)
{
    enum {
        WORDS = 2048,
        WORDS_FIRST = 64, /* where pages are scattered, the next is near */
    };
    struct process *p = process_of(memory);
    uint64_t words[WORDS];
    size_t most = WORDS_FIRST;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t at = from - from % page;
    *ret = (struct pfd_range){ 0 };
    while (at < to) {
        uint64_t left = (to - at + page - 1) / page;
        size_t n = left < most ? (size_t)left : most;
        most = most < WORDS ? 2 * most : most;
        ssize_t got = p->pagemap < 0
                          ? -1
                          : pread(p->pagemap, words, n * sizeof *words,
                                  (off_t)(at / page * sizeof *words));
        if (got < (ssize_t)sizeof *words) { /* the entry is missing */
            ret->from = ret->from ? ret->from : at;
            break;
        }
        for (size_t i = 0; i < (size_t)got / sizeof *words; i++, at += page) {
            bool has_page = words[i] & (IN_MEMORY | IN_SWAP);
            if (has_page && !ret->from)
                ret->from = at;
            if (!has_page && ret->from) {
                ret->to = at;
                return true;
            }
        }
    }
    ret->to = to;
    return ret->from != 0;
}

/* ---- files ---- */

static int open_in(int folder, const char *path)
{
    struct open_how how = {
        .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
        .resolve = RESOLVE_IN_ROOT,
    };
    long fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
    return fd < 0 ? -errno : (int)fd;
}

/* Opens a path as the process sees it: its root may differ. */
static int open_process_file(struct pfd_memory *memory, const char *path)
{
    struct process *p = process_of(memory);
    bool is_absolute = *path == '/';
    int folder = openat(p->folder, is_absolute ? "root" : "cwd",
                        O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    int fd = is_absolute ? open_in(folder, path)
                         : openat(folder, path,
                                  O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int number = fd < 0 && !is_absolute ? -errno : fd;
    close(folder);
    return number;
}

/* ---- opening ---- */

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void close_process(struct pfd_memory *memory)
{
    struct process *p = process_of(memory);
    close_fd(p->pidfd);
    close_fd(p->folder);
    close_fd(p->mem);
    close_fd(p->maps);
    close_fd(p->pagemap);
    free(p);
}

static const struct pfd_memory_hooks hooks = {
    .read = read_process,
    .refresh = refresh_process,
    .populated = find_populated,
    .check = check_process,
    .open_file = open_process_file,
    .close = close_process,
};

static void read_auxv(struct process *p)
{
    char *bytes = NULL;
    size_t n = 0;
    int fd = openat(p->folder, "auxv", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && slurp(fd, AUXV_MAX, &bytes, &n)) {
        p->memory.auxv = (uint8_t *)bytes;
        p->memory.n_auxv = n;
    } else {
        free(bytes);
    }
    close_fd(fd);
}

static enum pfd_status open_parts(struct process *p, struct pfd_error *err)
{
    char path[32];
    uint64_t pid = p->memory.pid;
    snprintf(path, sizeof path, "/proc/%llu", (unsigned long long)pid);
    p->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    p->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct pfd_process_status s = pfd_process_status(p->folder);
    if (s.is_there && s.group != pid) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "%llu is a thread of process %llu: give that",
                        (unsigned long long)pid, (unsigned long long)s.group);
    }
    p->mem = openat(p->folder, "mem", O_RDONLY | O_CLOEXEC);
    int number = errno;
    if (p->mem >= 0)
        p->maps = openat(p->folder, "maps", O_RDONLY | O_CLOEXEC);
    if (p->mem >= 0 && p->maps < 0)
        number = errno;
    if (p->maps < 0)
        return pfd_process_refused(pid, p->folder, number, err);
    if (has_ended(p) || is_gone(p))
        return pfd_process_refused(pid, p->folder, ESRCH, err);
    p->pagemap = openat(p->folder, "pagemap", O_RDONLY | O_CLOEXEC);
    p->memory.pid_inside = s.pid_inside;
    p->memory.started = s.started;
    read_auxv(p);
    return pfd_memory_refresh(&p->memory, err);
}

enum pfd_status pfd_memory_open_process(uint64_t pid, struct pfd_memory **ret,
                                        struct pfd_error *err)
{
    if (pid == 0 || pid > INT32_MAX) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "%llu is no process id", (unsigned long long)pid);
    }
    struct process *p = calloc(1, sizeof *p);
    if (!p)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    p->memory.hooks = &hooks;
    p->memory.pid = pid;
    p->pidfd = -1;
    p->folder = -1;
    p->mem = -1;
    p->maps = -1;
    p->pagemap = -1;
    snprintf(p->memory.name, sizeof p->memory.name, "process %llu",
             (unsigned long long)pid);
    enum pfd_status status = open_parts(p, err);
    if (status != PFD_OK) {
        pfd_memory_close(&p->memory);
        return status;
    }
    *ret = &p->memory;
    return PFD_OK;
}
