/* SPDX-License-Identifier: MIT */
#include "analysis/table/table_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PENDING_MAX = 1 << 20
};

void pfd_target_fail(struct pfd_target *target, enum pfd_status code,
                     const char *text)
{
    if (target->error.code == PFD_OK) {
        pfd_fail(&target->error, code, PFD_NO_OFFSET, "%s%s%s",
                 target->path ? target->path : "", target->path ? ": " : "",
                 text);
    }
}

static void fail_by_errno(struct pfd_target *target)
{
    pfd_target_fail(target, PFD_ERR_IO, strerror(errno));
}

bool pfd_target_open(struct pfd_target *ret, const char *path)
{
    *ret = (struct pfd_target){ .path = strdup(path) };
    ret->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (!ret->path) {
        pfd_target_fail(ret, PFD_ERR_NOMEM, "out of memory");
    } else if (ret->fd < 0) {
        fail_by_errno(ret);
    }
    return ret->error.code == PFD_OK;
}

bool pfd_target_open_scratch(struct pfd_target *ret)
{
    char path[4096];
    const char *folder = secure_getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/printfdecode-XXXXXX",
             folder && *folder ? folder : "/var/tmp");
    *ret = (struct pfd_target){ .fd = mkostemp(path, O_CLOEXEC) };
    ret->path = strdup(path);
    if (!ret->path) {
        pfd_target_fail(ret, PFD_ERR_NOMEM, "out of memory");
    } else if (ret->fd < 0) {
        fail_by_errno(ret);
    }
    if (ret->fd >= 0)
        unlink(path);
    return ret->error.code == PFD_OK;
}

static bool write_all(struct pfd_target *target, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(target->fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            fail_by_errno(target);
            return false;
        }
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

bool pfd_target_flush(struct pfd_target *target)
{
    size_t n = target->pending.n;
    target->pending.n = 0;
    if (target->pending.failed)
        pfd_target_fail(target, PFD_ERR_NOMEM, "out of memory");
    if (target->error.code != PFD_OK)
        return false;
    if (!n)
        return true;
    if (target->path)
        return write_all(target, target->pending.data, n);
    if (!target->write(target->write_user, target->pending.data, n))
        pfd_target_fail(target, PFD_ERR_STOPPED, "writing was stopped");
    return target->error.code == PFD_OK;
}

void pfd_target_put(struct pfd_target *target, const void *bytes, size_t n)
{
    pfd_text_add(&target->pending, bytes, n);
    pfd_target_ease(target);
}

void pfd_target_ease(struct pfd_target *target)
{
    if (target->pending.n >= PENDING_MAX)
        pfd_target_flush(target);
}

void pfd_target_patch(struct pfd_target *target, uint64_t at, const void *bytes,
                      size_t n)
{
    if (pfd_target_flush(target) &&
        pwrite(target->fd, bytes, n, (off_t)at) != (ssize_t)n)
        fail_by_errno(target);
}

bool pfd_target_read(struct pfd_target *target, uint64_t at, void *bytes,
                     size_t n)
{
    char *to = bytes;
    if (!pfd_target_flush(target))
        return false;
    while (n) {
        ssize_t done = pread(target->fd, to, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done ? errno : EIO;
            fail_by_errno(target);
            return false;
        }
        to += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return true;
}

uint64_t pfd_target_size(struct pfd_target *target)
{
    off_t n = lseek(target->fd, 0, SEEK_END);
    if (n < 0)
        fail_by_errno(target);
    return n < 0 ? 0 : (uint64_t)n;
}

void pfd_target_rewind(struct pfd_target *target)
{
    if (pfd_target_flush(target) && lseek(target->fd, 0, SEEK_SET) != 0)
        fail_by_errno(target);
}

bool pfd_target_close(struct pfd_target *target)
{
    pfd_target_flush(target);
    if (target->path && target->fd >= 0 && close(target->fd))
        fail_by_errno(target);
    target->fd = -1;
    pfd_text_free(&target->pending);
    free(target->path);
    target->path = NULL;
    return target->error.code == PFD_OK;
}
