/* SPDX-License-Identifier: MIT */
#include "spool/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make(const char *path)
{
    return mkdir(path, 0750) == 0 || errno == EEXIST;
}

int pfdd_state_dir_lock(const char *dir, char *err, size_t n_err)
{
    char path[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s/queue", dir);
    if (!make(dir) || !make(path)) {
        snprintf(err, n_err, "%.200s: %s", path, strerror(errno));
        return -1;
    }
    snprintf(path, sizeof path, "%.400s/lock", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (fd >= 0 && errno == EWOULDBLOCK) {
        snprintf(err, n_err, "%.200s: in use by another printfdecoded", dir);
    } else {
        snprintf(err, n_err, "%.200s: %s", path, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

void pfdd_sync_dir(const char *dir, const char *under)
{
    char path[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s%s", dir, under);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

bool pfdd_write_at(int fd, const char *bytes, size_t n, uint64_t at)
{
    while (n) {
        ssize_t done = pwrite(fd, bytes, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return true;
}

bool pfdd_state_file_write(const char *path, const void *bytes, size_t n,
                           bool is_synced)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    bool ok = fd >= 0 && pfdd_write_at(fd, bytes, n, 0) &&
              (!is_synced || fdatasync(fd) == 0);
    int error = errno;
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    errno = ok ? 0 : error ? error : EIO;
    return ok;
}

bool pfdd_state_file_replace(const char *dir, const char *under,
                             const char *name, const void *bytes, size_t n)
{
    char path[PFDD_PATH];
    char part[PFDD_PATH + sizeof PFDD_PART];
    snprintf(path, sizeof path, "%.400s%s/%s", dir, under, name);
    snprintf(part, sizeof part, "%s" PFDD_PART, path);
    if (!pfdd_state_file_write(part, bytes, n, true) ||
        rename(part, path) != 0) {
        int error = errno;
        unlink(part);
        errno = error;
        return false;
    }
    pfdd_sync_dir(dir, under);
    return true;
}

char *pfdd_state_file_read(const char *path, size_t n_max, size_t *n,
                           char why[PFDD_STATE_WHY])
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char *bytes = NULL;
    if (fd < 0 || fstat(fd, &st) != 0) {
        snprintf(why, PFDD_STATE_WHY, "%s", strerror(errno));
    } else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > n_max) {
        snprintf(why, PFDD_STATE_WHY, "no file of at most %zu bytes", n_max);
        errno = EFBIG;
    } else {
        bytes = malloc((size_t)st.st_size + 1);
        ssize_t got = bytes ? pread(fd, bytes, (size_t)st.st_size, 0) : -1;
        *n = got > 0 ? (size_t)got : 0;
        if (got < 0) {
            snprintf(why, PFDD_STATE_WHY, "%s", strerror(errno));
            free(bytes);
            bytes = NULL;
        }
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return bytes;
}

bool pfdd_state_file_lines(const char *text, size_t n, const char *head,
                           pfdd_state_line_fn fn, void *user)
{
    bool has_begun = false;
    while (n) {
        char line[PFDD_STATE_LINE];
        const char *end = memchr(text, '\n', n);
        size_t n_line = end ? (size_t)(end - text) : 0;
        if (!end || n_line >= sizeof line || memchr(text, '\0', n_line))
            return false;
        memcpy(line, text, n_line);
        line[n_line] = '\0';
        text += n_line + 1;
        n -= n_line + 1;
        if (has_begun && !strcmp(line, PFDD_STATE_END))
            return n == 0;
        if (has_begun ? !fn(user, line) : strcmp(line, head) != 0)
            return false;
        has_begun = true;
    }
    return false;
}
