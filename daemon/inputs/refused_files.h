/* SPDX-License-Identifier: MIT */
/*
 * Files of a watched folder that were refused because of their owner or mode. A
 * program that puts a file there may set these last, so a change of a refused
 * file is a reason to look at it again. The latest PFDD_REFUSED_FILES are
 * remembered. Loop thread only.
 */
#ifndef PFDD_REFUSED_FILES_H
#define PFDD_REFUSED_FILES_H

#include <stdbool.h>

enum {
    PFDD_REFUSED_FILES = 256
};

/* All zeros: none. */
struct pfdd_refused_files {
    char *names[PFDD_REFUSED_FILES]; /* NULL: none in this place */
    unsigned next;                   /* the place that is used next */
};

void pfdd_refused_files_deinit(struct pfdd_refused_files *refused);

/* Remembers a name, which is copied, unless memory is out. */
void pfdd_refused_files_add(struct pfdd_refused_files *refused,
                            const char *name);

/* Forgets a name. True: it was remembered. */
bool pfdd_refused_files_remove(struct pfdd_refused_files *refused,
                               const char *name);

#endif
