/* SPDX-License-Identifier: MIT */
/*
 * The files of the queue on disk (spool.h): their names and records, which
 * there are, and who writes and reads them. What a thread needs of the list is
 * handed to it: the list itself belongs to one thread.
 *
 * A segment: "PFDQ", u32 version, u64 first sequence number; then records of
 * u32 length, u32 CRC-32C (of number and bytes), u64 number, bytes; zeros
 * behind the last. Little-endian. In version 2 the number is 0 for what
 * describes a buffer, else that of the first item of a chunk (spool_record.h); in
 * version 1, which is only read, it is that of a line of JSON.
 */
#ifndef PFDD_SEGMENTS_H
#define PFDD_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/render_cache.h"
#include "spool/spool_record.h"

enum {
    PFDD_SEGMENT_LINES = 1, /* its records are lines of JSON */
    PFDD_SEGMENT_VERSION,   /* they are chunks */
    PFDD_SEGMENT_HEADER = 16,
    PFDD_SPOOL_RECORD_HEADER = 16,
    PFDD_SPOOL_RECORD_MAX = 8 * 1024 * 1024, /* bytes of one */
    PFDD_SPOOL_LINE_MAX = PFDD_LINE_MAX + 64 * 1024,
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
/* False: there is no memory. */
bool pfdd_segments_add(struct pfdd_segments *segments, uint64_t first,
                       uint64_t end);

/* The oldest n are gone. */
void pfdd_segments_drop(struct pfdd_segments *segments, size_t n);

/* ---- writing ---- */

struct pfdd_segment_writer {
    int fd;     /* of the last segment, or -1 */
    char *room; /* [size] */
    size_t size;
    size_t n; /* bytes of records that are to be written */
};

void pfdd_segment_writer_deinit(struct pfdd_segment_writer *w);

/* Adds a record of two parts; false: out of memory. */
bool pfdd_segment_put(struct pfdd_segment_writer *w, uint64_t number,
                      const void *head, size_t n_head, const void *bytes,
                      size_t n);

/* Where records go. */
struct pfdd_segment_place {
    uint64_t segment; /* named so */
    uint64_t at;      /* in it */
    uint64_t n_new;   /* not 0: it is made, with so many bytes */
};

/* Writes what was put. Nothing of it counts before all of it is safe: 0;
 * otherwise an errno value, and it may be written again. */
int pfdd_segment_write(struct pfdd_segment_writer *w, const char *dir,
                       const struct pfdd_segment_place *place);

/* ---- reading ---- */

struct pfdd_segment_reader {
    int fd; /* -1 */
    uint64_t segment;
    uint32_t version; /* of it */
    uint64_t at;
    uint64_t seq;  /* of the last item that was taken */
    uint64_t lost; /* bytes that could not be read */
    int error;     /* an errno value: try again later */
    /* The record that it stands before, until the next call. */
    uint64_t number;
    char *bytes; /* [n] */
    size_t n;
    size_t size;
};

/* Begins behind an item. */
void pfdd_segment_reader_init(struct pfdd_segment_reader *r, uint64_t seq);
void pfdd_segment_reader_deinit(struct pfdd_segment_reader *r);

/* What it has to read next, with all that is safe now; false: it has read all.
 * The first n_going segments do not count. */
bool pfdd_segments_next(const struct pfdd_segments *segments, size_t n_going,
                        const struct pfdd_segment_reader *r,
                        struct pfdd_segment *ret);

/* Goes into a segment, to its first record if it comes from another one. False:
 * r->error says why not, or it has gone: that is lost. */
bool pfdd_segment_enter(struct pfdd_segment_reader *r, const char *dir,
                        const struct pfdd_segment *segment);

/* The record that it stands before. False: there is none in what is safe, or
 * r->error. What cannot be read is passed over, up to the end, and counts as
 * lost. */
bool pfdd_segment_peek(struct pfdd_segment_reader *r,
                       const struct pfdd_segment *segment);
/* Steps behind it. */
void pfdd_segment_step(struct pfdd_segment_reader *r);
/* The same; nobody knows what it says. */
void pfdd_segment_lose(struct pfdd_segment_reader *r);

#endif
