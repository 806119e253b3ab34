/* SPDX-License-Identifier: MIT */
/*
 * Detects whether a buffer has changed, by its first bytes. They are loaded
 * from a mapping where that is possible, since idle buffers cost nothing else.
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
    bool is_coherent; /* a mapped page shows the same as a read */
    void *page;       /* NULL: the file is read */
    ssize_t n;        /* bytes of `bytes`; below 0: none */
    char bytes[PFDD_CHANGE_PROBE];
};

void pfdd_change_probe_init(struct pfdd_change_probe *change_probe, int fd);
void pfdd_change_probe_deinit(struct pfdd_change_probe *change_probe);

/* True: the bytes have changed, or could not be read. */
bool pfdd_change_probe_has_changed(struct pfdd_change_probe *change_probe);

/* Makes the next probe report a change, whatever the bytes are. */
void pfdd_change_probe_forget(struct pfdd_change_probe *change_probe);

#endif
