/* SPDX-License-Identifier: MIT */
/*
 * Files of a configuration that would be written over: what an output writes is
 * no file that is read, none of state_dir, and no other output's. Files that are
 * there are told by device and inode, others by their paths behind all links;
 * {buffer} may become any name. One thread.
 */
#ifndef PFDD_OVERLAP_H
#define PFDD_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>

#include "config/key_lookup.h"

enum {
    PFDD_OVERLAP_WHY = 256
};

struct pfdd_overlap {
    struct pfdd_overlap_files *written; /* [n] */
    size_t n;
    const char *folder;         /* that was looked at last; borrowed */
    char why[PFDD_OVERLAP_WHY]; /* "": none was found */
};

/* Of all paths, first: the pfdd_path_fn that takes the written ones. False: see
 * why. */
bool pfdd_overlap_write(void *overlap, enum pfdd_use use, const char *path);

/* Then the one for all paths that are not written. False: see why. */
bool pfdd_overlap_look(void *overlap, enum pfdd_use use, const char *path);

void pfdd_overlap_deinit(struct pfdd_overlap *overlap);

#endif
