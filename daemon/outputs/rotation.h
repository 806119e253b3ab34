/* SPDX-License-Identifier: MIT */
/*
 * Rotated files: they get a timestamp after their name, are compressed, and are
 * removed in order of time. The next start cleans up after a process that was
 * killed at any point. Any thread.
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

/* Renames it to PATH.YYYYMMDDTHHMMSS.NNNNNNNNN. False: see errno. */
bool pfdd_rotation_rename(const char *path, char ret[PFDD_ROTATION]);

/* In a path: stands for any name. */
#define PFDD_ROTATION_ANY "\1"

/* Compresses a rotated file to PATH.zst, or at the start all that a killed
 * process left, and removes all but the newest: a job, whose owner sets
 * job.done. */
struct pfdd_rotation_job {
    struct pfdd_job job;
    char old[PFDD_ROTATION]; /* the file just rotated, or "" at the start */
    char path[PFDD_ROTATION];
    bool compress;
    uint64_t keep;
    int error; /* of the compression: an errno value */
};

void pfdd_rotation_job(struct pfdd_rotation_job *ret, const char *old,
                       const char *path, bool compress, uint64_t keep);

#endif
