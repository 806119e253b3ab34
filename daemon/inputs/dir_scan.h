/* SPDX-License-Identifier: MIT */
/*
 * Names of files in a folder that somebody means to look at: each once while it
 * waits, in the order in which they came. The folder itself is listed piece by
 * piece, so that however many files there are, each step is short; all names
 * together take a part of the memory, and what has no room in it is found when
 * the folder is listed again. Loop thread only.
 */
#ifndef PFDD_DIR_SCAN_H
#define PFDD_DIR_SCAN_H

#include <limits.h>
#include <stdbool.h>

struct pfdd_dir_scan;
struct pfdd_memory_budget;

/* Of those that are listed, `is_first` come before others. path is borrowed.
 * NULL: out of memory. */
struct pfdd_dir_scan *pfdd_dir_scan_new(
    struct pfdd_memory_budget *budget, const char *path,
    bool (*is_first)(const void *user, const char *name), const void *user);
/* NULL is allowed. */
void pfdd_dir_scan_free(struct pfdd_dir_scan *names);

/* A file has come. False: there is no room for its name. */
bool pfdd_dir_scan_put(struct pfdd_dir_scan *names, const char *name);

/* All that are in the folder, when those that wait have been taken. False: that
 * was said already. */
bool pfdd_dir_scan_list(struct pfdd_dir_scan *names);

enum pfdd_dir_scan_step {
    PFDD_DIR_SCAN_NONE,  /* nothing waits */
    PFDD_DIR_SCAN_MORE,  /* a piece was listed */
    PFDD_DIR_SCAN_TAKEN, /* ret is the next name */
};
enum pfdd_dir_scan_step pfdd_dir_scan_step(struct pfdd_dir_scan *names,
                                           char ret[NAME_MAX + 1]);

#endif
