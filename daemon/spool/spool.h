/* SPDX-License-Identifier: MIT */
/*
 * The spool: a write-ahead log for required outputs. It appends every chunk of
 * the ring to preallocated segments on disk, with the code objects that the
 * chunk needs (blob_store.h), and syncs them before an output sees a line of
 * it. A segment stays until all required outputs have acknowledged its last
 * item. The checkpoint has the last item that each output has acknowledged, and
 * the offset in each source up to which entries are on disk; a restart resumes
 * there. Unreadable records are cut off or skipped, and logged; they never keep
 * the daemon from starting.
 *
 * Belongs to the loop. Jobs get their input when they start, and hand back
 * their result when they are done: no data is shared between threads.
 */
#ifndef PFDD_SPOOL_H
#define PFDD_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "ring/source_offsets.h"
#include "spool/consumer.h"

struct pfdd_memory_budget;
struct pfdd_render_cache;
struct pfdd_source_table;
struct pfdd_spool;
struct pfdd_thread_pools;

/* What the spool works with, all borrowed. */
struct pfdd_spool_parts {
    uv_loop_t *loop;
    struct pfdd_render_cache *render_cache; /* of the ring that it reads */
    struct pfdd_source_table *source_table;
    struct pfdd_thread_pools *thread_pools;
    struct pfdd_memory_budget *budget;
    size_t n_strings_max; /* bytes of strings that its readers may take */
    const bool *stopping;
};

/*
 * Opens the spool of a state folder, which is made if it is missing. *next_seq:
 * the sequence number of the next item. Call before there are jobs. NULL: err
 * [n_err] says why.
 */
struct pfdd_spool *pfdd_spool_open(const char *dir, uint64_t n_bytes_max,
                                   uint64_t *next_seq, char *err, size_t n_err);

/* Begins to read the ring. False: out of memory. */
bool pfdd_spool_start(struct pfdd_spool *q,
                      const struct pfdd_spool_parts *parts);

/* True: every item of the ring is on disk, and all outputs that can acknowledge
 * have done so. */
bool pfdd_spool_is_drained(const struct pfdd_spool *q);

/* Detaches from the ring and writes the last checkpoint. No job may be
 * pending. */
void pfdd_spool_stop(struct pfdd_spool *q);
/* NULL is allowed. */
void pfdd_spool_free(struct pfdd_spool *q);

/* A source of an open file begins, and is to be resumed after a restart; source:
 * pfdd_buffer_key(). *is_alone: as of pfdd_source_offsets_claim(). True:
 * *ret is the offset up to which entries of this file are on disk. False: none
 * are. */
bool pfdd_spool_position(struct pfdd_spool *q, const char *source,
                         const char *file, struct pfdd_source_offset *ret,
                         bool *is_alone);
/* It ends. is_kept: it may come again. */
void pfdd_spool_end_position(struct pfdd_spool *q, const char *source,
                             bool is_kept);

/* Stores code objects that have arrived since the last call. */
void pfdd_spool_store_objects(struct pfdd_spool *q);

/* Adds a consumer. name, wake and user are set, and, if it will read, its form
 * (pfdd_consumer_choose() or is_raw). */
void pfdd_spool_join(struct pfdd_spool *q, struct pfdd_consumer *consumer);
/* Removes a consumer, which must not be busy. The checkpoint keeps its
 * position. */
void pfdd_spool_leave(struct pfdd_spool *q, struct pfdd_consumer *consumer);

/* The output that keeps the spool full: the one that is furthest behind. NULL:
 * the spool is not full. */
const struct pfdd_consumer *pfdd_spool_slowest_consumer(
    const struct pfdd_spool *q);

/* Bytes of memory. */
size_t pfdd_spool_memory(const struct pfdd_spool *q);

/* For metrics. */
struct pfdd_spool_state {
    uint64_t durable;      /* sequence number of the last item that is safe */
    uint64_t bytes;        /* of segments on disk */
    uint64_t objects;      /* of code objects and manifests on disk */
    uint64_t objects_left; /* code objects that came late and have no room */
    uint64_t segments;
    uint64_t cut;    /* bytes that could not be read */
    uint64_t errors; /* failed writes */
    uint64_t n_long; /* lines that became gaps, being too long */
    bool failing;
    const char *why; /* it fails; borrowed; NULL: not known yet */
};
void pfdd_spool_state(const struct pfdd_spool *q, struct pfdd_spool_state *ret);

#endif
