/* SPDX-License-Identifier: MIT */
/*
 * A folder in which other users put files. Only regular files that lie in the
 * folder itself and have a trusted owner are opened; of all other files only
 * the type and the owner are checked. The opened file is the one that was
 * checked, even if its name changes meanwhile.
 *
 * Immutable: any thread, except for references, which the loop thread counts.
 */
#ifndef PFDD_TRUSTED_FOLDER_H
#define PFDD_TRUSTED_FOLDER_H

#include <sys/stat.h>

#include "config/config.h"

enum {
    PFDD_WHY = 200, /* bytes of an error message */
};

struct pfdd_trusted_folder;

/* owners: trusted users, copied; empty: this process's user, root and the
 * folder's owner. NULL: see errno. */
struct pfdd_trusted_folder *pfdd_trusted_folder_new(
    const char *path, const struct pfdd_ids *owners);
/* NULL is allowed, here and below. */
struct pfdd_trusted_folder *pfdd_trusted_folder_ref(
    struct pfdd_trusted_folder *trusted_folder);
void pfdd_trusted_folder_unref(struct pfdd_trusted_folder *trusted_folder);

/* Opens a file for reading; *ret is its status. Below 0: a negated errno value;
 * see why. Never blocks on another user's actions. */
int pfdd_trusted_folder_open_file(
    const struct pfdd_trusted_folder *trusted_folder, const char *name,
    struct stat *ret, char why[PFDD_WHY]);

/* True: the name is there, and is a symbolic link. */
bool pfdd_trusted_folder_has_link(
    const struct pfdd_trusted_folder *trusted_folder, const char *name);

/* Opens the file of an O_PATH descriptor for reading. Below 0: a negated errno
 * value. Only for regular files: opening other files may have side effects. */
int pfdd_trusted_folder_reopen(int path_fd);

#endif
