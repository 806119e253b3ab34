/* SPDX-License-Identifier: MIT */
#include "spool/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool/segment_files.h"

static bool make(const char *path)
{
    return mkdir(path, 0750) == 0 || errno == EEXIST;
}

int pfdd_lock_file(const char *dir, char *err, size_t n_err)
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
