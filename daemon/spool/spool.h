/* SPDX-License-Identifier: MIT */
/*
 * What required outputs are owed: every chunk of the ring goes to preallocated
 * segments on disk, as it is, and what it takes to print it beside them
 * (blob_store.h), and is synced before an output sees a line of it; there it stays
 * until all required outputs have acknowledged its last item. A checkpoint says
 * what they have acknowledged, by item, and how far into each source the chunks
 * on disk reach, so that a restart goes on where it stopped. What cannot be
 * read is cut off or passed over, and said; a queue never keeps the daemon from
 * starting.
 *
 * All of it belongs to the loop's thread. Jobs get what they need when they
 * start and hand back what came of it when they are done, so that nothing is
 * looked at by two threads.
 */
#ifndef PFDD_SPOOL_H
#define PFDD_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/source_offsets.h"
#include "spool/consumer.h"

struct pfdd;
struct pfdd_spool;

/*
 * Opens the queue of a directory, which is made if need be; *next_seq: the
 * number for the next line. Call before there are jobs. NULL: err says why.
 */
struct pfdd_spool *pfdd_spool_open(const char *dir, uint64_t n_bytes_max,
                                   uint64_t *next_seq, char *err, size_t n_err);

/* Begins to take lines from d's ring. */
bool pfdd_spool_start(struct pfdd_spool *q, struct pfdd *d);

/* True: every line of the ring is on disk. */
bool pfdd_spool_is_drained(const struct pfdd_spool *q);

/* Detaches from the ring; no job may be pending afterwards. Writes the last
 * checkpoint. */
void pfdd_spool_stop(struct pfdd_spool *q);
/* NULL is allowed. */
void pfdd_spool_free(struct pfdd_spool *q);

/* A source of an open file begins, which goes on after a restart. True: ret is
 * where the lines of this file end that are on disk; false: there are none. */
bool pfdd_spool_position(struct pfdd_spool *q, const char *source,
                         const char *file, struct pfdd_source_offset *ret);

/* How it goes on: every so often, and when code objects have come. */
void pfdd_spool_look(struct pfdd_spool *q);

/* name, wake and user are set. */
void pfdd_spool_join(struct pfdd_spool *q, struct pfdd_consumer *consumer);
/* It may not be busy. */
void pfdd_spool_leave(struct pfdd_spool *q, struct pfdd_consumer *consumer);

/* The output that keeps the queue full: of several, who is furthest behind.
 * NULL: it is not full. */
const struct pfdd_consumer *pfdd_spool_culprit(const struct pfdd_spool *q);

/* Bytes of memory. */
size_t pfdd_spool_memory(const struct pfdd_spool *q);

/* How it is. */
struct pfdd_spool_state {
    uint64_t durable; /* sequence number of the last line that is safe */
    uint64_t bytes;   /* of segments, on disk */
    uint64_t objects; /* likewise: of code objects beside them */
    uint64_t segments;
    uint64_t cut;    /* bytes that could not be read */
    uint64_t errors; /* of writing */
    uint64_t n_long; /* lines that became gaps */
    bool failing;
};
void pfdd_spool_state(const struct pfdd_spool *q, struct pfdd_spool_state *ret);

#endif
