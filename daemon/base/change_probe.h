/* SPDX-License-Identifier: MIT */
/*
 * The first bytes of a buffer, which tell whether something has moved: looked
 * at in memory, where that is possible, since idle buffers cost nothing else.
 * Loop thread only.
 */
#ifndef PFDD_CHANGE_PROBE_H
#define PFDD_CHANGE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    PFDD_HEAD = 64 /* bytes: all formats' headers are shorter */
};

struct pfdd_head {
    int fd;           /* borrowed */
    bool is_coherent; /* a page of it shows what a read would */
    void *page;       /* NULL: to be read from the file */
    ssize_t n;        /* bytes of `bytes`; below 0: none */
    char bytes[PFDD_HEAD];
};

void pfdd_head_init(struct pfdd_head *head, int fd);
void pfdd_head_deinit(struct pfdd_head *head);

/* True: it is not what it was, or could not be read. */
bool pfdd_head_has_changed(struct pfdd_head *head);

/* The next time it has changed, whatever stands there. */
void pfdd_head_forget(struct pfdd_head *head);

#endif
