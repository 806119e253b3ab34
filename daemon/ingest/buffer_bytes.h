/* SPDX-License-Identifier: MIT */
/*
 * Where a session's bytes stand: a file, of which the loop can see whether it
 * has moved (change_probe.h), or a process' memory, which only a worker asks: to read
 * it may take as long as that process likes. One thread at a time.
 */
#ifndef PFDD_BUFFER_BYTES_H
#define PFDD_BUFFER_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/source.h>

#include "base/change_probe.h"
#include "ring/source_offsets.h"

struct pfdd_buffer_bytes {
    struct pfd_source *source;
    int fd;         /* -1: of a process; borrowed */
    uint64_t n;     /* of a process: how many there are */
    bool must_look; /* likewise: whatever its header says */
    struct pfdd_change_probe change_probe;
};

/* Of a file (fd), or of memory: a source that is borrowed, of n bytes. False:
 * out of memory, or no regular file. */
bool pfdd_buffer_bytes_init(struct pfdd_buffer_bytes *b, int fd,
                            struct pfd_source *memory, uint64_t n);
void pfdd_buffer_bytes_deinit(struct pfdd_buffer_bytes *b);

bool pfdd_buffer_bytes_are_of_process(const struct pfdd_buffer_bytes *b);

/* What it is, for a position (source_offsets.h). */
void pfdd_buffer_bytes_describe(const struct pfdd_buffer_bytes *b,
                                char ret[PFDD_FILE_ROOM]);

/* On the loop: how many there are, SIZE_MAX: nobody knows; whether they may
 * have changed, which is always so of a process; and that they have. */
size_t pfdd_buffer_bytes_size(const struct pfdd_buffer_bytes *b);
bool pfdd_buffer_bytes_may_have_changed(struct pfdd_buffer_bytes *b);
void pfdd_buffer_bytes_forget(struct pfdd_buffer_bytes *b);

/* On a worker: they have not changed since this was asked last, nor has anybody
 * forgotten them; of a file the loop has seen that. */
bool pfdd_buffer_bytes_are_still(struct pfdd_buffer_bytes *b);

#endif
