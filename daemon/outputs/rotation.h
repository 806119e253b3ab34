/* SPDX-License-Identifier: MIT */
/*
 * Files of lines that are done: they get the time behind their name, and are
 * compressed and removed by that. Whatever ends us in between leaves nothing
 * that the next one does not tidy up. Any thread.
 */
#ifndef PFDD_ROTATION_H
#define PFDD_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/job_pool.h"

enum {
    PFDD_ROTATION = 512, /* bytes of a path */
};

/* PATH.YYYYMMDDTHHMMSS.NNNNNNNNN; false: it could not be renamed. */
bool pfdd_rotation_rename(const char *path, char ret[PFDD_ROTATION]);

/* PATH.zst in its place. 0, or an errno value; somebody else may be about it,
 * which is none. */
int pfdd_rotation_compress(const char *path);

/* Of those of a path only so many stay. */
void pfdd_rotation_keep(const char *path, uint64_t keep);

/* In a path: any name may stand there. */
#define PFDD_ROTATION_ANY "\1"

/* Of those of a path, what a kill has left: halves go, what is there twice is
 * there once, and what is not compressed will be. */
void pfdd_rotation_tidy(const char *path);

/* All of that, as a job; the owner sets job.done. */
struct pfdd_rotation_care {
    struct pfdd_job job;
    char old[PFDD_ROTATION]; /* renamed just now, or "": at the start */
    char path[PFDD_ROTATION];
    bool compress;
    uint64_t keep;
    int error; /* of compressing: an errno value */
};

void pfdd_rotation_care(struct pfdd_rotation_care *ret, const char *old,
                        const char *path, bool compress, uint64_t keep);

#endif
