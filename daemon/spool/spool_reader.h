/* SPDX-License-Identifier: MIT */
/*
 * Reads the spool for one required output and renders its lines. The disk
 * thread reads records; the ring's render workers render them (render_cache.h),
 * with the daemon's own strings if these have everything that the entries need,
 * otherwise with strings loaded from the blob store (blob_store.h). An output
 * of entries gets the chunks themselves, after their preamble
 * (spool_preamble.h).
 *
 * At most one step is in flight; its job owns the struct until `changed` is
 * called. Loop thread only.
 */
#ifndef PFDD_SPOOL_READER_H
#define PFDD_SPOOL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/job_pool.h"
#include "ring/render_cache.h"
#include "spool/blob_store.h"
#include "spool/manifest.h"
#include "spool/spool_preamble.h"
#include "spool/spool_records.h"

enum {
    PFDD_SPOOL_READER_PIECES = 256,
};

/* No sequence number is larger. */
#define PFDD_SEQUENCE_MAX (UINT64_C(1) << 60)

/* Shared by all readers of a spool. */
struct pfdd_spool_readers {
    const char *dir;
    struct pfdd_blob_store *blob_store;    /* NULL: none */
    struct pfdd_pool *disk;                /* the thread of the blob store */
    struct pfdd_pool *loaders;             /* they load strings */
    struct pfdd_pool *printers;            /* they render lines */
    struct pfdd_render_cache render_cache; /* of the rendered blocks */
    struct pfdd_strings *none;             /* no strings */
    struct pfdd_spool_reader *first;       /* a list */
    size_t n_strings_max; /* limit of code objects to load, bytes */
    /* The daemon's current strings for a manifest, borrowed. NULL: it has
     * none. */
    struct pfdd_strings *(*live)(void *user, uint64_t stock);
    /* True: so many bytes of memory are available. */
    bool (*has_room)(void *user, size_t n);
    void *user;
};

/* Where it reads. */
struct pfdd_spool_place {
    struct pfdd_segment todo;
    struct pfdd_segment_reader reader;
    struct pfdd_buffer *buffers[PFDD_PLACES]; /* references, by their place in
                                                 the segment */
};

/* Chunks that were read. */
struct pfdd_spool_batch {
    struct pfdd_chunk
        *chunks[PFDD_SPOOL_READER_PIECES]; /* [n_chunks], references */
    size_t n_chunks;
    size_t n_bytes;
    struct pfdd_manifest needs;
    uint64_t first_seq;
    uint64_t end_seq;
    size_t n_needed;   /* bytes of the code objects that they need */
    bool has_preamble; /* that of the chunks is complete */
};

struct pfdd_spool_reader {
    struct pfdd_spool_reader *next;
    struct pfdd_spool_readers *of;
    void (*changed)(struct pfdd_spool_reader *spool_reader);
    struct pfdd_render_choice
        *render_choice; /* the step's; borrowed. NULL: all */
    bool is_raw;        /* chunks are given as they are: `pieces` */
    bool is_entries;    /* `text` is frames of entries instead of lines */
    bool wants_entries; /* is_entries after the next rewind */
    bool has_lines;     /* the next records are lines of version 1 */
    bool is_busy;       /* a step is in flight */
    size_t n_before;    /* bytes that it had read when the step began */
    bool is_stale;      /* drop the step's result, then rewind */
    bool waits;         /* for memory, until pfdd_spool_reader_retry() */
    uint64_t begin;
    const char *text; /* [n], taken up to `at`; of a block, or `lines` */
    size_t n;
    size_t at;
    uint64_t end; /* sequence number behind the items of `text` */
    struct pfdd_rendered_block *rendered_block;
    struct pfdd_strings *strings; /* a reference: loaded from `manifest` */
    struct pfdd_manifest manifest;
    /* The job's. */
    struct pfdd_job job;
    void (*step)(struct pfdd_spool_reader *spool_reader);
    struct pfdd_spool_place place;
    struct pfd_strings *loaded;
    char *lines; /* [n_lines], of version 1, or a preamble */
    size_t n_lines;
    struct pfdd_spool_preamble spool_preamble; /* of the stream of entries */
    bool no_memory;                            /* for the preamble */
    struct pfdd_spool_batch batch;
};

/* Begins behind item seq. changed: a step has ended. */
void pfdd_spool_reader_init(
    struct pfdd_spool_reader *spool_reader, struct pfdd_spool_readers *of,
    uint64_t seq, void (*changed)(struct pfdd_spool_reader *spool_reader));
/* The reader must not be busy. */
void pfdd_spool_reader_deinit(struct pfdd_spool_reader *spool_reader);

/* Begins again behind item seq, in the form that wants_entries says. */
void pfdd_spool_reader_rewind(struct pfdd_spool_reader *spool_reader,
                              uint64_t seq);

/* Starts reading more of a segment. Nothing may be left or in flight. */
void pfdd_spool_reader_read(struct pfdd_spool_reader *spool_reader,
                            const struct pfdd_segment *todo);
/* Sequence number of the last item in its text; 0: none. */
uint64_t pfdd_spool_reader_last(const struct pfdd_spool_reader *spool_reader);
/* True: everything that was read was taken. */
bool pfdd_spool_reader_is_empty(const struct pfdd_spool_reader *spool_reader);
void pfdd_spool_reader_retry(struct pfdd_spool_reader *spool_reader);

/* Takes n bytes of its text. */
void pfdd_spool_reader_take(struct pfdd_spool_reader *spool_reader, size_t n);

/* Bytes of memory. */
size_t pfdd_spool_reader_memory(const struct pfdd_spool_reader *spool_reader);

/* Reads chunks or lines, without a job, on any thread; drops them. */
void pfdd_spool_reader_fetch(struct pfdd_spool_reader *spool_reader);
void pfdd_spool_reader_forget(struct pfdd_spool_reader *spool_reader);

#endif
