/* SPDX-License-Identifier: MIT */
/* The public API of inputs: files, and parts of files and processes. */
#include "core/base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/inflate.h"
#include "core/base/uri.h"

enum {
    STEP = 1 << 20, /* bytes of a process that are read at once */
    INFLATED_MAX = 1 << 30,
};

struct pfd_input {
    void *map; /* [n_map]; NULL: not mapped */
    size_t n_map;
    uint8_t *copy;        /* owned; NULL: mapped */
    const uint8_t *bytes; /* [n], within one of the two */
    size_t n;
    bool bounded; /* files are copied, n_max bytes at most */
    size_t n_max;
    pfd_input_open_fn open; /* NULL: open() and process memory */
    void *user;
};

bool pfd_input_is_uri(const char *name)
{
    return pfd_uri_recognise(name);
}

static enum pfd_status io_error(struct pfd_error *err, int number)
{
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET, "%s", strerror(number));
}

static enum pfd_status no_memory(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

static enum pfd_status too_large(const struct pfd_input *input, uint64_t n,
                                 struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                    "%llu bytes, at most %zu are taken", (unsigned long long)n,
                    input->n_max);
}

/* The copy grows with the bytes read: a wrong size takes no memory. False:
 * *number is the error, 0: no bytes there. */
static bool read_range(struct pfd_input *input, int fd, uint64_t offset,
                       uint64_t size, int *number)
{
    size_t room = 0;
    while (input->n < size) {
        uint64_t at = offset + input->n;
        uint64_t left = size - input->n;
        size_t want = left < STEP ? (size_t)left : STEP;
        *number = at > INT64_MAX ? EIO : ENOMEM;
        if (at > INT64_MAX)
            return false;
        if (room - input->n < want) {
            room = 2 * room + want;
            uint8_t *copy = realloc(input->copy, room);
            if (!copy)
                return false;
            input->copy = copy;
        }
        ssize_t got = pread(fd, input->copy + input->n, want, (off_t)at);
        *number = got < 0 ? errno : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        input->n += (size_t)got;
    }
    return true;
}

/* Truncating a mapped file kills the reader: other users' files are copied. */
static enum pfd_status copy_file(struct pfd_input *input, int fd,
                                 const struct pfd_uri *range,
                                 struct pfd_error *err)
{
    int number = 0;
    if (range->size > input->n_max)
        return too_large(input, range->size, err);
    if (!read_range(input, fd, range->offset, range->size, &number))
        return io_error(err, number ? number : ENODATA);
    if (input->copy)
        input->bytes = input->copy;
    return PFD_OK;
}

static enum pfd_status map_file(struct pfd_input *input, int fd, size_t n,
                                struct pfd_error *err)
{
    void *map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return io_error(err, errno);
    input->map = map;
    input->n_map = n;
    input->bytes = map;
    input->n = n;
    return PFD_OK;
}

/* Reads a whole file, or the URI's range of it. */
static enum pfd_status take_file(struct pfd_input *input, int fd,
                                 const struct pfd_uri *uri,
                                 struct pfd_error *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return io_error(err, errno);
    if (S_ISDIR(st.st_mode))
        return io_error(err, EISDIR);
    if (!S_ISREG(st.st_mode))
        return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET, "not a file");
    uint64_t n = (uint64_t)st.st_size;
    struct pfd_uri range = *uri;
    if (!range.has_range)
        range.size = n;
    if (range.offset > n || range.size > n - range.offset) {
        return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                        "the URI names %llu bytes at %llu, and the file has "
                        "%llu",
                        (unsigned long long)uri->size,
                        (unsigned long long)uri->offset, (unsigned long long)n);
    }
    input->bytes = (const uint8_t *)"";
    if (range.size == 0)
        return PFD_OK;
    if (input->bounded)
        return copy_file(input, fd, &range, err);
    enum pfd_status status = map_file(input, fd, (size_t)n, err);
    if (status == PFD_OK) {
        input->bytes += range.offset;
        input->n = (size_t)range.size;
    }
    return status;
}

/* A program that reads for other users opens files by its callback. */
static enum pfd_status ask_for(const struct pfd_input *input,
                               const struct pfd_uri *uri, int *fd,
                               struct pfd_error *err)
{
    char why[sizeof err->text] = "";
    *fd = input->open(input->user, uri->path, uri->pid, why, sizeof why);
    return *fd < 0 ? pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET, "%s", why)
                   : PFD_OK;
}

/* O_NONBLOCK: opening a pipe without a writer would block forever. */
static enum pfd_status open_path(const struct pfd_input *input,
                                 const struct pfd_uri *uri, int *fd,
                                 struct pfd_error *err)
{
    if (input->open)
        return ask_for(input, uri, fd, err);
    *fd = open(uri->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return *fd < 0 ? io_error(err, errno) : PFD_OK;
}

static enum pfd_status open_file(struct pfd_input *input,
                                 const struct pfd_uri *uri,
                                 struct pfd_error *err)
{
    int fd = -1;
    enum pfd_status status = open_path(input, uri, &fd, err);
    if (status != PFD_OK)
        return status;
    status = take_file(input, fd, uri, err);
    close(fd);
    return status;
}

/* Why a process' memory cannot be read: text for an error number. */
static const char *reason(int number)
{
    switch (number) {
    case ENOENT:
    case ESRCH:
        return "there is no such process";
    case EACCES:
    case EPERM:
        return "it belongs to another user, or must not be traced (see "
               "ptrace(2))";
    case EIO:
    case EFAULT:
    case 0:
        return "nothing is mapped there";
    default:
        return strerror(number);
    }
}

static enum pfd_status bad_memory(const struct pfd_uri *uri, uint64_t at,
                                  int number, struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                    "process %llu cannot be read at 0x%llx: %s",
                    (unsigned long long)uri->pid, (unsigned long long)at,
                    reason(number));
}

static enum pfd_status read_memory(struct pfd_input *input, int fd,
                                   const struct pfd_uri *uri,
                                   struct pfd_error *err)
{
    int number = 0;
    if (read_range(input, fd, uri->offset, uri->size, &number))
        return PFD_OK;
    if (number == ENOMEM)
        return no_memory(err);
    return bad_memory(uri, uri->offset + input->n, number, err);
}

static enum pfd_status open_process(const struct pfd_input *input,
                                    const struct pfd_uri *uri, int *fd,
                                    struct pfd_error *err)
{
    char path[64];
    if (input->open)
        return ask_for(input, uri, fd, err);
    snprintf(path, sizeof path, "/proc/%llu/mem", (unsigned long long)uri->pid);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? bad_memory(uri, uri->offset, errno, err) : PFD_OK;
}

static enum pfd_status open_memory(struct pfd_input *input,
                                   const struct pfd_uri *uri,
                                   struct pfd_error *err)
{
    int fd = -1;
    if (input->bounded && uri->size > input->n_max)
        return too_large(input, uri->size, err);
    enum pfd_status status = open_process(input, uri, &fd, err);
    if (status != PFD_OK)
        return status;
    status = read_memory(input, fd, uri, err);
    close(fd);
    input->bytes = input->copy ? input->copy : (const uint8_t *)"";
    return status;
}

static enum pfd_status open_uri(struct pfd_input *input, const char *name,
                                struct pfd_error *err)
{
    struct pfd_uri uri;
    enum pfd_status status = pfd_uri_parse(name, &uri, err);
    if (status != PFD_OK)
        return status;
    status =
        uri.path ? open_file(input, &uri, err) : open_memory(input, &uri, err);
    pfd_uri_deinit(&uri);
    return status;
}

/* how: bounded, n_max, open and user. */
static enum pfd_status open_input(const char *name, const struct pfd_input *how,
                                  struct pfd_input **ret, struct pfd_error *err)
{
    struct pfd_uri path = { .path = (char *)(uintptr_t)name };
    struct pfd_input *input = malloc(sizeof *input);
    if (!input)
        return no_memory(err);
    *input = *how;
    enum pfd_status status = pfd_input_is_uri(name) || input->open
                                 ? open_uri(input, name, err)
                                 : open_file(input, &path, err);
    if (status != PFD_OK) {
        pfd_input_close(input);
        return status;
    }
    *ret = input;
    return PFD_OK;
}

enum pfd_status pfd_input_open(const char *name, struct pfd_input **ret,
                               struct pfd_error *err)
{
    return open_input(name, &(struct pfd_input){ 0 }, ret, err);
}

enum pfd_status pfd_input_read(const char *name, size_t n_max,
                               struct pfd_input **ret, struct pfd_error *err)
{
    struct pfd_input how = { .bounded = true, .n_max = n_max };
    return open_input(name, &how, ret, err);
}

enum pfd_status pfd_input_read_with(const char *uri, size_t n_max,
                                    pfd_input_open_fn open, void *user,
                                    struct pfd_input **ret,
                                    struct pfd_error *err)
{
    struct pfd_input how = {
        .bounded = true, .n_max = n_max, .open = open, .user = user
    };
    return open_input(uri, &how, ret, err);
}

const void *pfd_input_bytes(const struct pfd_input *input, size_t *n)
{
    *n = input->n;
    return input->bytes;
}

void pfd_input_close(struct pfd_input *input)
{
    if (!input)
        return;
    if (input->map)
        munmap(input->map, input->n_map);
    free(input->copy);
    free(input);
}

bool pfd_input_is_compressed(const void *bytes, size_t n)
{
    return pfd_inflate_recognise(bytes, n);
}

enum pfd_status pfd_input_inflate(const void *bytes, size_t n, uint64_t n_max,
                                  const char *source, pfd_finding_fn fn,
                                  void *user, void **ret, size_t *n_ret,
                                  struct pfd_error *err)
{
    struct pfd_report report = { .fn = fn, .user = user, .source = source };
    struct pfd_error problem;
    uint8_t *inflated = NULL;
    enum pfd_status status =
        pfd_inflate_file(bytes, n, n_max ? n_max : INFLATED_MAX, &inflated,
                         n_ret, &problem, err);
    *ret = inflated;
    if (status == PFD_OK && problem.code != PFD_OK) {
        pfd_report_add(&report,
                       problem.code == PFD_ERR_UNSUPPORTED
                           ? PFD_FINDING_too_large
                           : PFD_FINDING_bad_compressed,
                       problem.offset, "%s", problem.text);
    }
    return status;
}
