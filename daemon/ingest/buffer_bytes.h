/* SPDX-License-Identifier: MIT */
/*
 * The bytes of one buffer that a follower reads: a file, whose changes the loop
 * can see (change_probe.h), or memory of a process. Only a worker reads a
 * process' memory, because a read takes as long as that process likes. One
 * thread at a time.
 */
#ifndef PFDD_BUFFER_BYTES_H
#define PFDD_BUFFER_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/tail.h>

#include "base/change_probe.h"
#include "ring/source_offsets.h"

struct pfdd_buffer_bytes {
    struct pfd_source *source;
    int fd;         /* borrowed; -1: memory of a process */
    uint64_t n;     /* bytes of a process' memory */
    bool must_look; /* likewise: read even if its header is the same */
    struct pfdd_change_probe change_probe;
};

/* Opens a file (fd), or memory: a borrowed source of n bytes. False: out of
 * memory, or not a regular file. */
bool pfdd_buffer_bytes_init(struct pfdd_buffer_bytes *b, int fd,
                            struct pfd_source *memory, uint64_t n);
void pfdd_buffer_bytes_deinit(struct pfdd_buffer_bytes *b);

bool pfdd_buffer_bytes_are_of_process(const struct pfdd_buffer_bytes *b);

/* Describes the file or process, for a source offset (source_offsets.h). */
void pfdd_buffer_bytes_describe(const struct pfdd_buffer_bytes *b,
                                char ret[PFDD_FILE_ROOM]);

/* On the loop: the size in bytes (SIZE_MAX: unknown); whether the bytes may
 * have changed (always true of a process); and a mark that they have. */
size_t pfdd_buffer_bytes_size(const struct pfdd_buffer_bytes *b);
bool pfdd_buffer_bytes_may_have_changed(struct pfdd_buffer_bytes *b);
void pfdd_buffer_bytes_forget(struct pfdd_buffer_bytes *b);

/* On a worker. True: a process' bytes have not changed since the last call, and
 * pfdd_buffer_bytes_forget() was not called. Always false of a file, whose
 * changes the loop sees. */
bool pfdd_buffer_bytes_are_still(struct pfdd_buffer_bytes *b);

#endif
