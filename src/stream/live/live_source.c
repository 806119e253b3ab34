/* SPDX-License-Identifier: MIT */
#include "stream/live/live_source.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/tail.h>

#include "core/base/error.h"
#include "core/base/uncached_copy.h"
#include "memory/space/address_space.h"
#include "stream/live/walk_pool.h"

enum {
    HEAD = 64, /* bytes: all formats' headers are shorter */
    PIECE = 256 << 10,
    WORTH_SHARING = 2 * PIECE,
};

#define NS_PER_MS UINT64_C(1000000)

struct source_hooks {
    long (*read)(struct pfd_source *s, uint64_t offset, void *bytes, size_t n);
    enum pfd_status (*size)(struct pfd_source *s, uint64_t *ret,
                            struct pfd_error *err);
    enum pfd_status (*identify)(const struct pfd_source *s,
                                struct pfd_source_identity *ret,
                                struct pfd_error *err);
};

struct pfd_source {
    const struct source_hooks *hooks;
    int fd;                          /* borrowed; -1: none */
    struct pfd_walk_pool *walk_pool; /* borrowed; NULL: none */
    struct pfd_memory *memory;       /* borrowed; NULL: none */
    const uint8_t *mapped;           /* [n], borrowed; NULL: none */
    uint64_t address;
    uint64_t n; /* bytes of the memory */
    /* State at the last pfd_source_changed(). */
    char head[HEAD];
    long n_head; /* below 0: never, or it could not be read */
    uint64_t size;
};

static enum pfd_status io_error(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET, "%s", strerror(errno));
}

/* ---- files ---- */

static long read_alone(int fd, uint64_t offset, void *bytes, size_t n)
{
    for (;;) {
        ssize_t got = pread(fd, bytes, n, (off_t)offset);
        if (got >= 0)
            return (long)got;
        if (errno != EINTR)
            return -(long)errno;
    }
}

/* A read that several threads share, in slices. */
struct reading {
    int fd;
    uint64_t offset;
    char *bytes; /* [n] */
    size_t n;
    pthread_mutex_t lock; /* guards the rest */
    size_t n_got;         /* bytes from the start up to the first short slice */
    int error;            /* that ended the read */
};

static void read_piece(void *user, size_t i)
{
    struct reading *r = user;
    size_t at = i * PIECE;
    size_t n = r->n - at < PIECE ? r->n - at : PIECE;
    long got = read_alone(r->fd, r->offset + at, r->bytes + at, n);
    size_t end = at + (got > 0 ? (size_t)got : 0);
    pthread_mutex_lock(&r->lock);
    if (end < at + n && end < r->n_got) {
        r->n_got = end;
        r->error = got < 0 ? (int)-got : 0;
    }
    pthread_mutex_unlock(&r->lock);
}

static long read_file(struct pfd_source *s, uint64_t offset, void *bytes,
                      size_t n)
{
    struct reading r = {
        .fd = s->fd,
        .offset = offset,
        .bytes = bytes,
        .n = n,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .n_got = n,
    };
    if (n < WORTH_SHARING || !pfd_walk_pool_hold(s->walk_pool))
        return read_alone(s->fd, offset, bytes, n);
    pfd_walk_pool_share(s->walk_pool, (n + PIECE - 1) / PIECE, read_piece, &r);
    pfd_walk_pool_let_go(s->walk_pool);
    pthread_mutex_destroy(&r.lock);
    return r.n_got ? (long)r.n_got : -(long)r.error;
}

static enum pfd_status size_of_file(struct pfd_source *s, uint64_t *ret,
                                    struct pfd_error *err)
{
    struct stat st;
    if (fstat(s->fd, &st))
        return io_error(err);
    *ret = (uint64_t)st.st_size;
    return PFD_OK;
}

static enum pfd_status identify_file(const struct pfd_source *s,
                                     struct pfd_source_identity *ret,
                                     struct pfd_error *err)
{
    struct stat st;
    if (fstat(s->fd, &st))
        return io_error(err);
    *ret = (struct pfd_source_identity){ .place = (uint64_t)st.st_dev,
                                         .number = (uint64_t)st.st_ino };
    return PFD_OK;
}

static const struct source_hooks file_hooks = {
    .read = read_file,
    .size = size_of_file,
    .identify = identify_file,
};

/* ---- memory ---- */

struct first_absent {
    uint64_t at;
    bool any;
};

static void take_absent(void *user, const struct pfd_range *range,
                        const char *why)
{
    struct first_absent *first = user;
    (void)why;
    if (!first->any)
        first->at = range->from;
    first->any = true;
}

static long read_memory(struct pfd_source *s, uint64_t offset, void *bytes,
                        size_t n)
{
    struct first_absent first = { 0 };
    if (offset >= s->n)
        return 0;
    if (n > s->n - offset)
        n = (size_t)(s->n - offset);
    uint64_t from = s->address + offset;
    if (pfd_memory_read(s->memory, from, bytes, n, take_absent, &first, NULL,
                        NULL) != PFD_OK)
        return -ESRCH;
    if (!first.any)
        return (long)n;
    return first.at == from ? -EFAULT : (long)(first.at - from);
}

static enum pfd_status size_of_memory(struct pfd_source *s, uint64_t *ret,
                                      struct pfd_error *err)
{
    *ret = s->n;
    return pfd_memory_check(s->memory, err);
}

static enum pfd_status identify_memory(const struct pfd_source *s,
                                       struct pfd_source_identity *ret,
                                       struct pfd_error *err)
{
    (void)err;
    *ret = (struct pfd_source_identity){
        .kind = 1,
        .place = s->memory->pid,
        .number = s->memory->started,
        .offset = s->address,
    };
    return PFD_OK;
}

static const struct source_hooks memory_hooks = {
    .read = read_memory,
    .size = size_of_memory,
    .identify = identify_memory,
};

/* ---- memory of this process ---- */

static long read_mapped(struct pfd_source *s, uint64_t offset, void *bytes,
                        size_t n)
{
    if (offset >= s->n)
        return 0;
    if (n > s->n - offset)
        n = (size_t)(s->n - offset);
    pfd_uncached_copy(bytes, s->mapped + offset, n);
    return (long)n;
}

static enum pfd_status size_of_mapped(struct pfd_source *s, uint64_t *ret,
                                      struct pfd_error *err)
{
    (void)err;
    *ret = s->n;
    return PFD_OK;
}

static enum pfd_status identify_mapped(const struct pfd_source *s,
                                       struct pfd_source_identity *ret,
                                       struct pfd_error *err)
{
    (void)err;
    *ret = (struct pfd_source_identity){
        .kind = 2,
        .place = (uint64_t)getpid(),
        .offset = (uintptr_t)s->mapped,
    };
    return PFD_OK;
}

static const struct source_hooks mapped_hooks = {
    .read = read_mapped,
    .size = size_of_mapped,
    .identify = identify_mapped,
};

/* ---- all sources ---- */

static enum pfd_status make(const struct pfd_source *of,
                            struct pfd_source **ret, struct pfd_error *err)
{
    struct pfd_source *s = malloc(sizeof *s);
    if (!s)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    *s = *of;
    s->n_head = -1;
    *ret = s;
    return PFD_OK;
}

enum pfd_status pfd_source_open_file(int fd, struct pfd_source **ret,
                                     struct pfd_error *err)
{
    struct pfd_source of = { .hooks = &file_hooks, .fd = fd };
    struct stat st;
    if (fstat(fd, &st))
        return io_error(err);
    if (!S_ISREG(st.st_mode)) {
        return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                        "only a file can be followed");
    }
    return make(&of, ret, err);
}

enum pfd_status pfd_source_open_memory(struct pfd_memory *memory,
                                       uint64_t address, uint64_t n,
                                       struct pfd_source **ret,
                                       struct pfd_error *err)
{
    struct pfd_source of = {
        .hooks = &memory_hooks,
        .fd = -1,
        .memory = memory,
        .address = address,
        .n = n,
    };
    if (n > UINT64_MAX - address) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "%llu bytes at 0x%llx are beyond the last address",
                        (unsigned long long)n, (unsigned long long)address);
    }
    return make(&of, ret, err);
}

enum pfd_status pfd_source_open_mapped(const void *bytes, size_t n,
                                       struct pfd_source **ret,
                                       struct pfd_error *err)
{
    struct pfd_source of = {
        .hooks = &mapped_hooks,
        .fd = -1,
        .mapped = bytes,
        .n = n,
    };
    return make(&of, ret, err);
}

void pfd_source_set_walk_pool(struct pfd_source *s,
                              struct pfd_walk_pool *walk_pool)
{
    s->walk_pool = walk_pool;
}

void pfd_source_close(struct pfd_source *source)
{
    free(source);
}

long pfd_source_read(void *source, uint64_t offset, void *bytes, size_t n)
{
    struct pfd_source *s = source;
    return s->hooks->read(s, offset, bytes, n);
}

enum pfd_status pfd_source_size(struct pfd_source *s, uint64_t *ret,
                                struct pfd_error *err)
{
    return s->hooks->size(s, ret, err);
}

bool pfd_source_changed(struct pfd_source *s)
{
    char head[HEAD];
    uint64_t size = 0;
    long n = s->hooks->read(s, 0, head, sizeof head);
    bool ok = s->hooks->size(s, &size, NULL) == PFD_OK && n >= 0;
    bool same = ok && n == s->n_head && size == s->size &&
                !memcmp(head, s->head, (size_t)n);
    s->n_head = ok ? n : -1;
    s->size = size;
    if (ok)
        memcpy(s->head, head, (size_t)n);
    return !same;
}

enum pfd_status pfd_source_identify(const struct pfd_source *s,
                                    struct pfd_source_identity *ret,
                                    struct pfd_error *err)
{
    return s->hooks->identify(s, ret, err);
}

uint64_t pfd_source_pause(uint64_t idle_ns)
{
    static const struct {
        uint64_t idle_ms;
        uint64_t pause_ms;
    } rows[] = { { 10000, 50 }, { 1000, 20 }, { 100, 5 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (idle_ns >= rows[i].idle_ms * NS_PER_MS)
            return rows[i].pause_ms * NS_PER_MS;
    }
    return NS_PER_MS;
}
