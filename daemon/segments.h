/* SPDX-License-Identifier: MIT */
/*
 * The files of the queue on disk (queue.h), one by one: their names, records,
 * and what can be read of them. Knows no threads and not which segments there
 * are.
 *
 * A segment: "PFDQ", u32 version, u64 first sequence number; then records of
 * u32 length, u32 CRC-32C (of sequence number and bytes), u64 sequence number,
 * the line; zeros behind the last. Little-endian.
 */
#ifndef PFDD_SEGMENTS_H
#define PFDD_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring.h"

enum {
    PFDD_SEGMENT_HEADER = 16,
    PFDD_RECORD_HEADER = 16,                         /* in front of each line */
    PFDD_QUEUE_LINE_MAX = PFDD_LINE_MAX + 64 * 1024, /* on disk */
    PFDD_PATH = 512,
};

void pfdd_segment_path(const char *dir, uint64_t first, char ret[PFDD_PATH]);
/* A descriptor, or -1 with errno. */
int pfdd_segment_open(const char *dir, uint64_t first, int flags);

/* What stands in a folder is safe, too. */
void pfdd_sync_dir(const char *dir, const char *under);
/* All of it, or errno says why not. */
bool pfdd_write_at(int fd, const char *bytes, size_t n, uint64_t at);

/* The first sequence numbers of all that there are, in order, allocated;
 * NULL: none. */
uint64_t *pfdd_segments_find(const char *dir, size_t *n);

/* What is in one. */
struct pfdd_segment_scan {
    char *line;                                           /* room for one */
    void (*hear)(void *user, const char *line, size_t n); /* each one */
    void *user;
    uint64_t last; /* sequence number; 0: it has no lines */
    uint64_t cut;  /* bytes behind the last whole record */
};

/* Where its whole records end; 0: it is no segment. */
uint64_t pfdd_segment_scan(const char *dir, uint64_t first,
                           struct pfdd_segment_scan *scan);

/* A new one of n bytes, for lines from `first` on. -1: errno says why. */
int pfdd_segment_begin(const char *dir, uint64_t first, uint64_t n);

/* Records of n_lines of a chunk, from line `first` on: their bytes, and the
 * records themselves into ret; returns how many. */
size_t pfdd_records_bytes(const struct pfdd_chunk *chunk, size_t first,
                          size_t n_lines);
size_t pfdd_records_put(const struct pfdd_chunk *chunk, size_t first,
                        size_t n_lines, char *ret);

/* Reads the record at `at`; its line into line (room PFDD_QUEUE_LINE_MAX); 0:
 * there is none that is whole. */
size_t pfdd_record_read(int fd, uint64_t at, uint64_t *seq, char *line);

#endif
