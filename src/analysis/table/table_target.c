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

void pfd_table_target_fail(struct pfd_table_target *table_target,
                           enum pfd_status code, const char *text)
{
    if (table_target->error.code == PFD_OK) {
        pfd_fail(&table_target->error, code, PFD_NO_OFFSET, "%s%s%s",
                 table_target->path ? table_target->path : "",
                 table_target->path ? ": " : "", text);
    }
}

static void fail_by_errno(struct pfd_table_target *table_target)
{
    pfd_table_target_fail(table_target, PFD_ERR_IO, strerror(errno));
}

bool pfd_table_target_open(struct pfd_table_target *ret, const char *path)
{
    *ret = (struct pfd_table_target){ .path = strdup(path) };
    ret->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (!ret->path) {
        pfd_table_target_fail(ret, PFD_ERR_NOMEM, "out of memory");
    } else if (ret->fd < 0) {
        fail_by_errno(ret);
    }
    return ret->error.code == PFD_OK;
}

bool pfd_table_target_open_scratch(struct pfd_table_target *ret)
{
    char path[4096];
    const char *folder = secure_getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/printfdecode-XXXXXX",
             folder && *folder ? folder : "/var/tmp");
    *ret = (struct pfd_table_target){ .fd = mkostemp(path, O_CLOEXEC) };
    ret->path = strdup(path);
    if (!ret->path) {
        pfd_table_target_fail(ret, PFD_ERR_NOMEM, "out of memory");
    } else if (ret->fd < 0) {
        fail_by_errno(ret);
    }
    if (ret->fd >= 0)
        unlink(path);
    return ret->error.code == PFD_OK;
}

static bool write_all(struct pfd_table_target *table_target, const char *bytes,
                      size_t n)
{
    while (n) {
        ssize_t done = write(table_target->fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            fail_by_errno(table_target);
            return false;
        }
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

bool pfd_table_target_flush(struct pfd_table_target *table_target)
{
    size_t n = table_target->pending.n;
    table_target->pending.n = 0;
    if (table_target->pending.failed)
        pfd_table_target_fail(table_target, PFD_ERR_NOMEM, "out of memory");
    if (table_target->error.code != PFD_OK)
        return false;
    if (!n)
        return true;
    if (table_target->path)
        return write_all(table_target, table_target->pending.data, n);
    if (!table_target->write(table_target->write_user,
                             table_target->pending.data, n)) {
        pfd_table_target_fail(table_target, PFD_ERR_STOPPED,
                              "writing was stopped");
    }
    return table_target->error.code == PFD_OK;
}

void pfd_table_target_put(struct pfd_table_target *table_target,
                          const void *bytes, size_t n)
{
    pfd_text_add(&table_target->pending, bytes, n);
    pfd_table_target_flush_if_large(table_target);
}

void pfd_table_target_flush_if_large(struct pfd_table_target *table_target)
{
    if (table_target->pending.n >= PENDING_MAX)
        pfd_table_target_flush(table_target);
}

void pfd_table_target_patch(struct pfd_table_target *table_target, uint64_t at,
                            const void *bytes, size_t n)
{
    if (pfd_table_target_flush(table_target) &&
        pwrite(table_target->fd, bytes, n, (off_t)at) != (ssize_t)n)
        fail_by_errno(table_target);
}

bool pfd_table_target_read(struct pfd_table_target *table_target, uint64_t at,
                           void *bytes, size_t n)
{
    char *to = bytes;
    if (!pfd_table_target_flush(table_target))
        return false;
    while (n) {
        ssize_t done = pread(table_target->fd, to, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done ? errno : EIO;
            fail_by_errno(table_target);
            return false;
        }
        to += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return true;
}

uint64_t pfd_table_target_size(struct pfd_table_target *table_target)
{
    off_t n = lseek(table_target->fd, 0, SEEK_END);
    if (n < 0)
        fail_by_errno(table_target);
    return n < 0 ? 0 : (uint64_t)n;
}

void pfd_table_target_rewind(struct pfd_table_target *table_target)
{
    if (pfd_table_target_flush(table_target) &&
        lseek(table_target->fd, 0, SEEK_SET) != 0)
        fail_by_errno(table_target);
}

bool pfd_table_target_close(struct pfd_table_target *table_target)
{
    pfd_table_target_flush(table_target);
    if (table_target->path && table_target->fd >= 0 && close(table_target->fd))
        fail_by_errno(table_target);
    table_target->fd = -1;
    pfd_text_free(&table_target->pending);
    free(table_target->path);
    table_target->path = NULL;
    return table_target->error.code == PFD_OK;
}
