/* SPDX-License-Identifier: MIT */
#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_trusted(const struct stat *link)
{
    return S_ISLNK(link->st_mode) &&
           (link->st_uid == geteuid() || link->st_uid == 0);
}

/* The link is checked before and after: the opened file is the one that it
 * names. */
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

/* The folder in which the file was found, behind all links. */
static bool stat_folder(int fd, struct stat *ret)
{
    char link[32];
    char path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path);
    while (n > 0 && n < (ssize_t)sizeof path && path[n - 1] != '/')
        n--;
    if (n <= 0 || n >= (ssize_t)sizeof path)
        return false;
    path[n] = '\0';
    return stat(path, ret) == 0;
}

static bool is_ours(const struct stat *st)
{
    return st->st_uid == geteuid() || st->st_uid == 0;
}

bool pfdd_own_file_is_only_ours(int fd)
{
    struct stat st;
    struct stat folder;
    if (fstat(fd, &st) != 0)
        return false;
    return !S_ISREG(st.st_mode) || st.st_nlink <= 1 ||
           (st.st_uid == geteuid() && stat_folder(fd, &folder) &&
            is_ours(&folder) && !(folder.st_mode & (S_IWGRP | S_IWOTH)));
}

/* Closes a file that another user may have named. */
static int check_names(int fd)
{
    if (fd < 0 || pfdd_own_file_is_only_ours(fd))
        return fd;
    close(fd);
    errno = EMLINK;
    return -1;
}

int pfdd_own_file_open(const char *path, int flags)
{
    int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0640);
    if (fd < 0 && errno == ELOOP)
        fd = open_link(path, flags | O_CLOEXEC | O_NOCTTY);
    return check_names(fd);
}

int pfdd_own_file_open_itself(const char *path, int flags)
{
    struct stat st;
    int fd = check_names(open(
        path, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640));
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

const char *pfdd_own_file_error(int error)
{
    return error == ELOOP    ? "a link of another user, or in a circle, is not "
                               "followed"
           : error == EMLINK ? "it has several names, and this one may be "
                               "another user's"
                             : strerror(error);
}
