/* SPDX-License-Identifier: MIT */
/*
 * A folder in which others put files. What is opened is a regular file that
 * lies there itself and belongs to somebody who is trusted; of everything else
 * only its kind and its owner are looked at. The file that is opened is the one
 * that was looked at, whatever its name has become meanwhile.
 *
 * Immutable: any thread, but for references, which the loop thread counts.
 */
#ifndef PFDD_TRUSTED_FOLDER_H
#define PFDD_TRUSTED_FOLDER_H

#include <sys/stat.h>

#include "config/config.h"

enum {
    PFDD_WHY = 200, /* bytes of a reason */
};

struct pfdd_trusted_folder;

/* owners: who is trusted, copied; none: this process' user, root and the
 * folder's owner. NULL: errno says why. */
struct pfdd_trusted_folder *pfdd_trusted_folder_new(
    const char *path, const struct pfdd_ids *owners);
/* NULL is allowed, here and below. */
struct pfdd_trusted_folder *pfdd_trusted_folder_ref(
    struct pfdd_trusted_folder *trusted_folder);
void pfdd_trusted_folder_unref(struct pfdd_trusted_folder *trusted_folder);

/* The file of that name, for reading; *ret is what it is. Below 0: an errno
 * value, negated, and why. Waits for nobody. */
int pfdd_trusted_folder_open_file(
    const struct pfdd_trusted_folder *trusted_folder, const char *name,
    struct stat *ret, char why[PFDD_WHY]);

/* What an O_PATH descriptor stands for, for reading; below 0: an errno value,
 * negated. Only of a regular file: opening anything else may do things. */
int pfdd_trusted_folder_reopen(int path_fd);

#endif
