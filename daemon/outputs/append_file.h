/* SPDX-License-Identifier: MIT */
/*
 * A file to which lines are appended, or standard output. It is opened on
 * demand, and again when its path names another file. One thread at a time.
 */
#ifndef PFDD_APPEND_FILE_H
#define PFDD_APPEND_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfdd_append_file {
    const char *path;        /* borrowed; NULL: standard output */
    const atomic_bool *stop; /* borrowed; set: stop waiting for a pipe */
    int fd;                  /* -1: not open */
    /* The rest starts as zeros. */
    uint64_t size;    /* bytes */
    uint64_t opened;  /* seconds since 1970; 0: none yet */
    bool is_whole;    /* it is empty or ends with a newline */
    size_t n_written; /* bytes, since the caller set it to 0 */
};

/* Does nothing if it is open. False: see errno. */
bool pfdd_append_file_open(struct pfdd_append_file *a);
void pfdd_append_file_close(struct pfdd_append_file *a);

/* Closes it if its path names another file by now. */
void pfdd_append_file_close_if_moved(struct pfdd_append_file *a);

/* Appends all n bytes. False: see errno; EAGAIN: `stop` is set. n_written says
 * how many bytes were written. */
bool pfdd_append_file_write(struct pfdd_append_file *a, const char *bytes,
                            size_t n);

/* After a failed write: truncates the file to `before` bytes, unless another
 * process has written to it since. */
void pfdd_append_file_truncate(struct pfdd_append_file *a, uint64_t before);

#endif
