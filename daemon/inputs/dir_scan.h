/* SPDX-License-Identifier: MIT */
/*
 * A queue of names of files in a folder: each once, in the order in which they
 * came. The folder itself is listed piece by piece, so that each step is short,
 * however many files there are. All names together take a limited part of the
 * memory; names beyond it are found when the folder is listed again. Loop
 * thread only.
 */
#ifndef PFDD_DIR_SCAN_H
#define PFDD_DIR_SCAN_H

#include <limits.h>
#include <stdbool.h>

struct pfdd_dir_scan;
struct pfdd_memory_budget;

/* Among listed names, those with is_first() come before others. path is
 * borrowed. NULL: out of memory. */
struct pfdd_dir_scan *pfdd_dir_scan_new(
    struct pfdd_memory_budget *budget, const char *path,
    bool (*is_first)(const void *user, const char *name), const void *user);
/* NULL is allowed. */
void pfdd_dir_scan_free(struct pfdd_dir_scan *names);

/* Enqueues the name of a file that has come. False: there is no memory for
 * it. */
bool pfdd_dir_scan_put(struct pfdd_dir_scan *names, const char *name);

/* Lists the folder when all queued names have been taken. False: that was
 * requested already. */
bool pfdd_dir_scan_list(struct pfdd_dir_scan *names);

enum pfdd_dir_scan_step {
    PFDD_DIR_SCAN_NONE,  /* no name is queued */
    PFDD_DIR_SCAN_MORE,  /* a piece was listed */
    PFDD_DIR_SCAN_TAKEN, /* ret is the next name */
};
enum pfdd_dir_scan_step pfdd_dir_scan_step(struct pfdd_dir_scan *names,
                                           char ret[NAME_MAX + 1]);

#endif
