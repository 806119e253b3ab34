/* SPDX-License-Identifier: MIT */
#include "core/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_trusted(const struct stat *link)
{
    return S_ISLNK(link->st_mode) &&
           (link->st_uid == geteuid() || link->st_uid == 0);
}

/* The link is looked at before and after: what was opened is what it names. */
static int open_link(const char *path, int flags)
{
    struct stat before;
    struct stat after;
    if (lstat(path, &before) != 0)
        return -1;
    int fd = is_trusted(&before) ? open(path, flags, 0640) : -1;
    if (fd < 0) {
        errno = is_trusted(&before) ? errno : ELOOP;
        return -1;
    }
    if (lstat(path, &after) == 0 && after.st_ino == before.st_ino &&
        after.st_dev == before.st_dev && is_trusted(&after))
        return fd;
    close(fd);
    errno = ELOOP;
    return -1;
}

int pfdd_own_file_open(const char *path, int flags)
{
    int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0640);
    return fd < 0 && errno == ELOOP
               ? open_link(path, flags | O_CLOEXEC | O_NOCTTY)
               : fd;
}

const char *pfdd_own_file_error(int error)
{
    return error == ELOOP ? "a link of another user, or in a circle, is not "
                            "followed"
                          : strerror(error);
}
