/* SPDX-License-Identifier: MIT */
/*
 * The files of the queue on disk (queue.h): their names and records, which
 * there are, and who writes and reads them. What a thread needs of the list is
 * handed to it: the list itself belongs to one thread.
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

#include "delivery/page.h"

enum {
    PFDD_SEGMENT_HEADER = 16,
    PFDD_RECORD_HEADER = 16,                         /* in front of each line */
    PFDD_QUEUE_LINE_MAX = PFDD_LINE_MAX + 64 * 1024, /* on disk */
    PFDD_PATH = 512,
};

void pfdd_segment_path(const char *dir, uint64_t first, char ret[PFDD_PATH]);
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

/* ---- which there are ---- */

struct pfdd_segment {
    uint64_t first; /* sequence number; names the file */
    uint64_t end;   /* bytes of it that are safe: whole records */
};

/* By sequence number. All zeros: there are none. */
struct pfdd_segments {
    struct pfdd_segment *items; /* [n] */
    size_t n;
    size_t size;
};

void pfdd_segments_deinit(struct pfdd_segments *segments);

/* Room for one more, which pfdd_segments_add() then takes; false: there is no
 * memory. */
bool pfdd_segments_reserve(struct pfdd_segments *segments);
void pfdd_segments_add(struct pfdd_segments *segments, uint64_t first,
                       uint64_t end);

/* The oldest n are gone. */
void pfdd_segments_drop(struct pfdd_segments *segments, size_t n);

/* ---- writing ---- */

/* Whole lines that go to disk at once, with the sequence numbers from `first`
 * on, and where. */
struct pfdd_batch {
    const char *bytes; /* [n] */
    size_t n;
    size_t n_lines;
    uint64_t first;
    uint64_t segment; /* named so */
    uint64_t at;      /* in it */
    uint64_t n_new;   /* not 0: it is made, with so many bytes */
};

/* Bytes of its records. */
size_t pfdd_batch_bytes(const struct pfdd_batch *batch);

struct pfdd_segment_writer {
    int fd;        /* of the last segment, or -1 */
    char *records; /* [size] */
    size_t size;
};

/* Nothing of it counts before all of it is safe: 0; otherwise an errno value,
 * and it may be written again. */
int pfdd_segment_write(struct pfdd_segment_writer *w, const char *dir,
                       const struct pfdd_batch *batch);

/* ---- reading ---- */

struct pfdd_segment_reader {
    int fd; /* -1 */
    uint64_t segment;
    uint64_t at;
    uint64_t seq;  /* read last */
    uint64_t lost; /* bytes that could not be read */
    int error;     /* an errno value: try again later */
};

/* Begins behind a line. */
void pfdd_segment_reader_init(struct pfdd_segment_reader *r, uint64_t seq);
void pfdd_segment_reader_deinit(struct pfdd_segment_reader *r);

/* What it has to read next, with all that is safe now; false: it has read all.
 * The first n_going segments do not count. */
bool pfdd_segments_next(const struct pfdd_segments *segments, size_t n_going,
                        const struct pfdd_segment_reader *r,
                        struct pfdd_segment *ret);

/* Whole lines of a segment, from where it stands, into ret [size +
 * PFDD_QUEUE_LINE_MAX]; returns bytes. 0: there are none behind r->seq in what
 * was safe, or r->error says why not. What cannot be read is passed over. */
size_t pfdd_segment_read(struct pfdd_segment_reader *r, const char *dir,
                         const struct pfdd_segment *segment, char *ret,
                         size_t size);

#endif
