/* SPDX-License-Identifier: MIT */
/* Files that the daemon writes where others may write, too. Any thread. */
#ifndef PFDD_OWN_FILE_H
#define PFDD_OWN_FILE_H

/*
 * open() with mode 0640 for O_CREAT. A symbolic link at the end of the path is
 * followed only if it is the daemon's own or root's: another user would say by
 * it which file of ours is written. Below 0: errno; ELOOP: such a link.
 */
int pfdd_own_file_open(const char *path, int flags);

/* A sentence for what that, or a write to the file, left in errno. */
const char *pfdd_own_file_error(int error);

#endif
