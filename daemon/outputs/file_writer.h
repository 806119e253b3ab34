/* SPDX-License-Identifier: MIT */
/*
 * Standard output and files: lines that are written to a descriptor, by a
 * thread that may have to wait. A file's path may have {host}, {pid} and
 * {buffer} in it; with {buffer} there is a file for each source. Files are
 * rotated by rename only, and the old ones compressed if asked. What cannot be
 * written is tried again; lines that the ring has dropped by then are a gap
 * record.
 *
 * A required output reads from the disk queue instead of the ring, syncs what
 * it has written, and acknowledges it.
 */
#ifndef PFDD_FILE_WRITER_H
#define PFDD_FILE_WRITER_H

#include <stdatomic.h>

#include "daemon.h"

struct pfdd_file_writer_config {
    struct pfdd_output_config base;
    char *path;           /* NULL: standard output */
    uint64_t rotate_size; /* 0: never */
    uint64_t rotate_age_ms;
    uint64_t keep; /* rotated files; 0: all */
    bool compress;
};

/* The object of such an output; private. */
struct pfdd_file_writer {
    struct pfdd_output base;
    struct writer *writers;
    struct pfdd_pool *pool; /* standard output's own thread */
    uv_timer_t tick;
    uint64_t first_seq;
    atomic_bool stop;
    bool is_stdout;
    bool per_source;
    struct source_file *files; /* [n_files], with {buffer} */
    uint32_t n_files;
    uint32_t turn;      /* whose file has the first chance the next time */
    unsigned n_waiting; /* sources with lines whose file is not written yet */
    unsigned n_writers;
    bool timer_closed;
    unsigned n_compressing;
};

/* The hooks of a class whose configuration and object these are. */
bool pfdd_file_writer_open(struct pfdd_output *output, char *err, size_t n_err);
void pfdd_file_writer_close(struct pfdd_output *output);
bool pfdd_file_writer_is_drained(const struct pfdd_output *output);
size_t pfdd_file_writer_memory(const struct pfdd_output *output);

#endif
