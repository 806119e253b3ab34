/* SPDX-License-Identifier: MIT */
/*
 * Standard output and files: a thread that may block writes lines to a
 * descriptor. A file's path may contain {host}, {pid} and {buffer}; with
 * {buffer} each source has a file. Files are rotated by rename only, and old
 * ones are compressed on request. Failed writes are retried; a gap record
 * stands for lines that the ring evicted meanwhile.
 *
 * A required output reads from the spool instead of the ring, syncs what it has
 * written, and then acknowledges it.
 */
#ifndef PFDD_FILE_WRITER_H
#define PFDD_FILE_WRITER_H

#include <stdatomic.h>

#include "base/log.h"
#include "outputs/delivery.h"

struct pfdd_file_writer_config {
    struct pfdd_output_config base;
    char *path;           /* NULL: standard output */
    uint64_t rotate_size; /* 0: never */
    uint64_t rotate_age_ms;
    uint64_t keep; /* number of rotated files; 0: all */
    bool compress;
};

/* The object of such an output; private. */
struct pfdd_file_writer {
    struct pfdd_output base;
    struct writer *writers;
    struct pfdd_pool
        *pool; /* of one thread, for standard output or rotated files */
    uv_timer_t tick;
    uint64_t first_seq;
    atomic_bool stop;
    bool is_stdout;
    bool per_source;
    struct source_file *files; /* [n_files], with {buffer} */
    uint32_t n_files;
    uint32_t turn;      /* source that gets the next free writer */
    unsigned n_waiting; /* sources with lines that have no writer */
    unsigned n_writers;
    struct pfdd_log_topic failures; /* of all its files, at one rate */
    bool timer_closed;
    unsigned n_compressing;
    struct pfdd_sent count; /* of writers that are gone, and of the spool's
                               lines */
};

/* Hooks for a class whose configuration and object are the structs above. */
bool pfdd_file_writer_open(struct pfdd_output *output, char *err, size_t n_err);
void pfdd_file_writer_close(struct pfdd_output *output);
bool pfdd_file_writer_is_drained(const struct pfdd_output *output);
size_t pfdd_file_writer_memory(const struct pfdd_output *output);
struct pfdd_sent pfdd_file_writer_sent(const struct pfdd_output *output);
bool pfdd_file_writer_trouble(const struct pfdd_output *output, char *ret,
                              size_t n);

#endif
