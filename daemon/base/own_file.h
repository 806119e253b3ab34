/* SPDX-License-Identifier: MIT */
/* Opens files for the daemon's output where other users may write, too. Any
 * thread. */
#ifndef PFDD_OWN_FILE_H
#define PFDD_OWN_FILE_H

#include <stdbool.h>

/*
 * open() with mode 0640 for O_CREAT. A symbolic link at the end of the path is
 * followed only if it is the daemon's own or root's: another user would say by
 * it which file of ours is written. So would he by a hard link. Below 0: errno;
 * ELOOP, EMLINK: such a link.
 */
int pfdd_own_file_open(const char *path, int flags);

/* The same for a regular file alone, and no link is followed. O_PATH opens a
 * file without any right to it. Below 0: errno; EINVAL: another kind of file. */
int pfdd_own_file_open_itself(const char *path, int flags);

/* False: the file has several names, and another user may have made one: it is
 * not the daemon's own, or its folder is not, or others may write there. O_PATH
 * is enough for fd. */
bool pfdd_own_file_is_only_ours(int fd);

/* A sentence for what that, or a write to the file, left in errno. */
const char *pfdd_own_file_error(int error);

#endif
