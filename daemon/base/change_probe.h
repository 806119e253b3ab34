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
    PFDD_CHANGE_PROBE = 64 /* bytes: all formats' headers are shorter */
};

struct pfdd_change_probe {
    int fd;           /* borrowed */
    bool is_coherent; /* a page of it shows what a read would */
    void *page;       /* NULL: to be read from the file */
    ssize_t n;        /* bytes of `bytes`; below 0: none */
    char bytes[PFDD_CHANGE_PROBE];
};

void pfdd_change_probe_init(struct pfdd_change_probe *change_probe, int fd);
void pfdd_change_probe_deinit(struct pfdd_change_probe *change_probe);

/* True: it is not what it was, or could not be read. */
bool pfdd_change_probe_has_changed(struct pfdd_change_probe *change_probe);

/* The next time it has changed, whatever stands there. */
void pfdd_change_probe_forget(struct pfdd_change_probe *change_probe);

#endif
