/* SPDX-License-Identifier: MIT */
/*
 * A file that lines are put behind, or standard output. It is opened when it is
 * needed, and once more when somebody has moved it away. One thread at a time.
 */
#ifndef PFDD_APPEND_FILE_H
#define PFDD_APPEND_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfdd_append_file {
    const char *path;        /* borrowed; NULL: standard output */
    const atomic_bool *stop; /* borrowed: nobody waits for a pipe any more */
    int fd;                  /* -1: it is not open */
    /* The rest starts as zeros. */
    uint64_t size;    /* bytes */
    uint64_t opened;  /* seconds since 1970; 0: it begins anew */
    bool is_whole;    /* it ends with a newline, or is empty */
    size_t n_written; /* bytes, since somebody set it to 0 */
};

/* Does nothing if it is open. False: errno says why. */
bool pfdd_append_file_open(struct pfdd_append_file *a);
void pfdd_append_file_close(struct pfdd_append_file *a);

/* It is closed if it is not the one any more that its path names. */
void pfdd_append_file_look_after(struct pfdd_append_file *a);

/* All n bytes, behind what is there. False: errno says why; EAGAIN: it is to
 * stop. n_written says how many are there. */
bool pfdd_append_file_write(struct pfdd_append_file *a, const char *bytes,
                            size_t n);

/* A write failed: what it has left goes, so that there are `before` bytes, as
 * far as nobody else has written since. */
void pfdd_append_file_take_back(struct pfdd_append_file *a, uint64_t before);

#endif
