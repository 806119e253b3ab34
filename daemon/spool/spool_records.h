/* SPDX-License-Identifier: MIT */
/*
 * Segments, the spool's files (spool.h): their names and records, the list of
 * them, the writer and the reader. The list belongs to one thread; other
 * threads are handed the segments that they need.
 *
 * A segment: "PFDQ", u32 version, u64 first sequence number; then records of
 * u32 length, u32 CRC-32C (of number and bytes), u64 number, bytes; zeros
 * behind the last record. Little-endian. In version 2 the number is 0 for a
 * description of a buffer, else the sequence number of a chunk's first item
 * (spool_frame.h). In version 1, which is only read, it is the sequence number
 * of a line of JSON.
 */
#ifndef PFDD_SPOOL_RECORDS_H
#define PFDD_SPOOL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/render_cache.h"
#include "spool/spool_frame.h"
#include "spool/state_dir.h"

enum {
    PFDD_SEGMENT_LINES = 1, /* records are lines of JSON */
    PFDD_SEGMENT_VERSION,   /* records are buffers and chunks */
    PFDD_SEGMENT_HEADER = 16,
    PFDD_SPOOL_RECORD_HEADER = 16,
    PFDD_SPOOL_RECORD_MAX = 8 * 1024 * 1024, /* bytes of a record */
    PFDD_SPOOL_LINE_MAX = PFDD_LINE_MAX + 64 * 1024,
};

void pfdd_segment_path(const char *dir, uint64_t first, char ret[PFDD_PATH]);

/* The first sequence numbers of all segments, sorted [*n], allocated. NULL:
 * none. */
uint64_t *pfdd_segments_find(const char *dir, size_t *n);

/* ---- the list of segments ---- */

struct pfdd_segment {
    uint64_t first; /* sequence number; the file's name */
    uint64_t end;   /* bytes of whole records that are safe */
};

/* In order of sequence numbers. All zeros: none. */
struct pfdd_segments {
    struct pfdd_segment *items; /* [n] */
    size_t n;
    size_t size;
};

void pfdd_segments_deinit(struct pfdd_segments *segments);

/* Reserves memory for one pfdd_segments_add(). False: out of memory. */
bool pfdd_segments_reserve(struct pfdd_segments *segments);
/* False: there is no memory. */
bool pfdd_segments_add(struct pfdd_segments *segments, uint64_t first,
                       uint64_t end);

/* Drops the oldest n. */
void pfdd_segments_drop(struct pfdd_segments *segments, size_t n);

/* ---- writing ---- */

struct pfdd_segment_writer {
    int fd;     /* of the last segment, or -1 */
    char *room; /* [size] */
    size_t size;
    size_t n; /* bytes of records that were put */
};

void pfdd_segment_writer_deinit(struct pfdd_segment_writer *w);

/* Adds a record of two parts. False: out of memory. */
bool pfdd_segment_put(struct pfdd_segment_writer *w, uint64_t number,
                      const void *head, size_t n_head, const void *bytes,
                      size_t n);

/* A place for records. */
struct pfdd_segment_place {
    uint64_t segment; /* its name */
    uint64_t at;      /* offset in it */
    uint64_t n_new;   /* 0, or the size of a segment that is made first */
};

/* Writes the records that were put. 0: all of them are safe. Otherwise an errno
 * value; none of them counts, and they may be written again. */
int pfdd_segment_write(struct pfdd_segment_writer *w, const char *dir,
                       const struct pfdd_segment_place *place);

/* ---- reading ---- */

struct pfdd_segment_reader {
    int fd; /* -1: none is open */
    uint64_t segment;
    uint32_t version; /* of the segment */
    uint64_t at;
    uint64_t seq;  /* of the last item that was read */
    uint64_t lost; /* bytes that could not be read */
    int error;     /* an errno value: try again later */
    /* The current record, valid until the next call. */
    uint64_t number;
    char *bytes; /* [n] */
    size_t n;
    size_t size;
};

/* Begins behind item seq. */
void pfdd_segment_reader_init(struct pfdd_segment_reader *r, uint64_t seq);
void pfdd_segment_reader_deinit(struct pfdd_segment_reader *r);

/* The next segment to read, with its bytes that are safe now. Skips the first
 * n_going segments. False: everything was read. */
bool pfdd_segments_next(const struct pfdd_segments *segments, size_t n_going,
                        const struct pfdd_segment_reader *r,
                        struct pfdd_segment *ret);

/* Enters a segment; if the reader comes from another one, at the first record.
 * False: r->error says why, or the segment has gone, and its bytes count as
 * lost. */
bool pfdd_segment_enter(struct pfdd_segment_reader *r, const char *dir,
                        const struct pfdd_segment *segment);

/* Reads the current record. False: no more records are safe, or r->error. After
 * an unreadable record the rest of the segment is skipped, and counts as
 * lost. */
bool pfdd_segment_peek(struct pfdd_segment_reader *r,
                       const struct pfdd_segment *segment);
/* Moves on to the next record. */
void pfdd_segment_step(struct pfdd_segment_reader *r);
/* Likewise; the current record counts as lost. */
void pfdd_segment_lose(struct pfdd_segment_reader *r);

#endif
