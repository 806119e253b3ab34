/* SPDX-License-Identifier: MIT */
#include "outputs/append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own_file.h"

bool pfdd_append_file_open(struct pfdd_append_file *a)
{
    struct stat st;
    char last = '\n';
    if (a->fd >= 0)
        return true;
    if (!a->path) {
        a->fd = STDOUT_FILENO;
        a->is_whole = true;
        return true;
    }
    a->fd = pfdd_own_file_open(a->path, O_RDWR | O_APPEND | O_CREAT);
    if (a->fd < 0)
        return false;
    a->size = fstat(a->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    if (!a->opened)
        a->opened = (uint64_t)time(NULL);
    a->is_whole = !a->size || pread(a->fd, &last, 1, (off_t)a->size - 1) != 1 ||
                  last == '\n';
    return true;
}

void pfdd_append_file_close(struct pfdd_append_file *a)
{
    close(a->fd);
    a->fd = -1;
}

void pfdd_append_file_close_if_moved(struct pfdd_append_file *a)
{
    struct stat ours;
    struct stat there;
    if (a->fd < 0 || !a->path)
        return;
    if (stat(a->path, &there) == 0 && fstat(a->fd, &ours) == 0 &&
        there.st_ino == ours.st_ino && there.st_dev == ours.st_dev)
        return;
    pfdd_append_file_close(a);
}

/* A writable pipe accepts PIPE_BUF bytes without blocking, so the thread never
 * hangs in write(). */
static ssize_t write_some(const struct pfdd_append_file *a, const char *bytes,
                          size_t n)
{
    if (a->path)
        return write(a->fd, bytes, n);
    struct pollfd p = { .fd = a->fd, .events = POLLOUT };
    while (poll(&p, 1, 100) == 0) {
        if (atomic_load(a->stop)) {
            errno = EAGAIN;
            return -1;
        }
    }
    return write(a->fd, bytes, n < 4096 ? n : 4096);
}

bool pfdd_append_file_write(struct pfdd_append_file *a, const char *bytes,
                            size_t n)
{
    while (n) {
        ssize_t done = write_some(a, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        a->n_written += (size_t)done;
        a->size += (uint64_t)done;
        a->is_whole = bytes[done - 1] == '\n';
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

void pfdd_append_file_truncate(struct pfdd_append_file *a, uint64_t before)
{
    struct stat st;
    if (!a->path || fstat(a->fd, &st) != 0 || (uint64_t)st.st_size != a->size ||
        a->size == before || ftruncate(a->fd, (off_t)before) != 0)
        return;
    a->size = before;
    a->is_whole = true;
}
