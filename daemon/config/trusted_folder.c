/* SPDX-License-Identifier: MIT */
#include "config/trusted_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct pfdd_trusted_folder {
    unsigned refs;
    char *path;
    dev_t device;
    ino_t inode;
    struct pfdd_ids owners; /* empty: see pfdd_trusted_folder_new() */
};

static void free_folder(struct pfdd_trusted_folder *trusted_folder)
{
    free(trusted_folder->owners.items);
    free(trusted_folder->path);
    free(trusted_folder);
}

static bool copy_ids(struct pfdd_ids *ret, const struct pfdd_ids *ids)
{
    if (!ids->n)
        return true;
    ret->items = calloc(ids->n, sizeof *ret->items);
    if (!ret->items)
        return false;
    memcpy(ret->items, ids->items, ids->n * sizeof *ret->items);
    ret->n = ids->n;
    return true;
}

struct pfdd_trusted_folder *pfdd_trusted_folder_new(
    const char *path, const struct pfdd_ids *owners)
{
    struct stat st;
    struct pfdd_trusted_folder *trusted_folder = NULL;
    if (stat(path, &st) != 0)
        return NULL;
    trusted_folder = calloc(1, sizeof *trusted_folder);
    if (!trusted_folder)
        return NULL;
    trusted_folder->refs = 1;
    trusted_folder->path = strdup(path);
    trusted_folder->device = st.st_dev;
    trusted_folder->inode = st.st_ino;
    if (!trusted_folder->path || !copy_ids(&trusted_folder->owners, owners)) {
        free_folder(trusted_folder);
        errno = ENOMEM;
        return NULL;
    }
    return trusted_folder;
}

struct pfdd_trusted_folder *pfdd_trusted_folder_ref(
    struct pfdd_trusted_folder *trusted_folder)
{
    if (trusted_folder)
        trusted_folder->refs++;
    return trusted_folder;
}

void pfdd_trusted_folder_unref(struct pfdd_trusted_folder *trusted_folder)
{
    if (trusted_folder && --trusted_folder->refs == 0)
        free_folder(trusted_folder);
}

/* Not kept open: a removed folder would go unnoticed. */
static int open_folder(const struct pfdd_trusted_folder *trusted_folder,
                       struct stat *ret)
{
    int fd = open(trusted_folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, ret) == 0 && ret->st_dev == trusted_folder->device &&
        ret->st_ino == trusted_folder->inode)
        return fd;
    close(fd);
    return -ESTALE;
}

/* Opens the name itself, without following links, and no mount point: its file
 * system may be another user's, which may lie or never answer. */
static int find(int fd, const char *name)
{
    struct open_how how = {
        .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
    };
    long found = syscall(SYS_openat2, fd, name, &how, sizeof how);
    /* Kernels before 5.6, and seccomp filters that do not know the call. */
    if (found < 0 && (errno == ENOSYS || errno == EPERM))
        found = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return found < 0 ? -errno : (int)found;
}

static bool is_trusted(const struct pfdd_trusted_folder *trusted_folder,
                       uid_t owner, uid_t owner_of_folder)
{
    const struct pfdd_ids *ids = &trusted_folder->owners;
    for (size_t i = 0; i < ids->n; i++) {
        if (ids->items[i] == owner)
            return true;
    }
    return !ids->n &&
           (owner == geteuid() || owner == 0 || owner == owner_of_folder);
}

/* True: only the file's owner can have created this link. */
static bool is_own_link(const struct stat *folder, const struct stat *st)
{
    return st->st_nlink == 1 || (st->st_uid == folder->st_uid &&
                                 !(folder->st_mode & (S_IWGRP | S_IWOTH)));
}

static bool may_be_read(const struct pfdd_trusted_folder *trusted_folder,
                        const struct stat *parent, const struct stat *st,
                        char why[PFDD_WHY])
{
    if (S_ISLNK(st->st_mode)) {
        snprintf(why, PFDD_WHY, "it is a symbolic link");
    } else if (!S_ISREG(st->st_mode)) {
        snprintf(why, PFDD_WHY, "it is not a regular file");
    } else if (!is_trusted(trusted_folder, st->st_uid, parent->st_uid)) {
        snprintf(why, PFDD_WHY, "it belongs to user %u (see 'owners')",
                 (unsigned)st->st_uid);
    } else if (!is_own_link(parent, st)) {
        snprintf(why, PFDD_WHY,
                 "it has %lu names, and this one may be somebody else's",
                 (unsigned long)st->st_nlink);
    } else {
        return true;
    }
    return false;
}

int pfdd_trusted_folder_reopen(int path_fd)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", path_fd);
    /* O_NONBLOCK: do not wait for the owner's lease. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

static int say(int error, char why[PFDD_WHY])
{
    snprintf(why, PFDD_WHY, "%s",
             error == -ESTALE  ? "the folder is another one by now"
             : error == -EXDEV ? "it is mounted there from elsewhere"
                               : strerror(-error));
    return error;
}

int pfdd_trusted_folder_open_file(
    const struct pfdd_trusted_folder *trusted_folder, const char *name,
    struct stat *ret, char why[PFDD_WHY])
{
    struct stat parent = { 0 };
    int at = open_folder(trusted_folder, &parent);
    if (at < 0)
        return say(at, why);
    int found = find(at, name);
    close(at);
    if (found < 0)
        return say(found, why);
    int fd = -EPERM;
    if (fstat(found, ret) != 0) {
        fd = say(-errno, why);
    } else if (may_be_read(trusted_folder, &parent, ret, why)) {
        fd = pfdd_trusted_folder_reopen(found);
        if (fd < 0)
            say(fd, why);
    }
    close(found);
    return fd;
}

bool pfdd_trusted_folder_has_link(
    const struct pfdd_trusted_folder *trusted_folder, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s/%s", trusted_folder->path, name);
    return n < (int)sizeof path && lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}
