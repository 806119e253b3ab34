/* SPDX-License-Identifier: MIT */
/*
 * Lines for one required output, made of what is on disk: records are read by
 * the thread of the disk, and lines are made of them by the workers that make
 * those of the ring (render_cache.h), with the daemon's own strings where these have
 * all that the entries need, else with what lies beside the segments (blob_store.h).
 * Who wants entries gets the chunks as they are, and before them what they need
 * (spool_preamble.h).
 *
 * One step at a time is on its way; it is a job's until `changed` is called.
 * Loop thread only.
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
#include "spool/segments.h"
#include "spool/spool_preamble.h"

enum {
    PFDD_SPOOL_READER_PIECES = 256,
};

/* Numbers that are larger are nobody's. */
#define PFDD_SEQUENCE_MAX (UINT64_C(1) << 60)

/* What those of a queue have in common. */
struct pfdd_spool_readers {
    const char *dir;
    struct pfdd_blob_store *blob_store;    /* NULL: nothing is kept */
    struct pfdd_pool *disk;                /* the one that kept belongs to */
    struct pfdd_pool *loaders;             /* that make strings, */
    struct pfdd_pool *printers;            /* and lines */
    struct pfdd_render_cache render_cache; /* these */
    struct pfdd_strings *none;             /* no strings */
    struct pfdd_spool_reader *first;       /* a list */
    size_t n_strings_max; /* bytes of the code objects of a stock */
    /* The daemon's strings of a stock, borrowed; NULL: it has none. */
    struct pfdd_strings *(*live)(void *user, uint64_t stock);
    /* True: there is room for so much memory. */
    bool (*has_room)(void *user, size_t n);
    void *user;
};

struct pfdd_spool_reader {
    struct pfdd_spool_reader *next;
    struct pfdd_spool_readers *of;
    void (*changed)(struct pfdd_spool_reader *spool_reader);
    struct pfdd_render_choice
        *render_choice; /* borrowed; a step's. NULL: everything */
    bool is_raw;        /* what is read is given as it is: pieces, below */
    bool is_entries; /* frames of entries instead of lines: its text, below */
    bool wants_entries; /* from when it begins again */
    bool has_lines;     /* what comes next is lines of the version before */
    bool is_busy;       /* a step is on its way: */
    size_t n_before;    /* what it had read before that, bytes */
    bool is_stale;      /* what it gives is thrown away, and it begins again */
    bool waits;         /* for memory: pfdd_spool_reader_retry() */
    uint64_t begin;
    const char *text; /* [n], up to `at` is taken; of a page, or lines */
    size_t n;
    size_t at;
    uint64_t end; /* sequence number, behind what text was made of */
    struct pfdd_rendered_block *rendered_block;
    struct pfdd_strings *strings; /* a reference: of the stock below */
    struct pfdd_manifest manifest;
    /* The job's. */
    struct pfdd_job job;
    void (*step)(struct pfdd_spool_reader *spool_reader);
    struct pfdd_segment todo;
    struct pfdd_segment_reader reader;
    struct pfdd_buffer *places[PFDD_PLACES]; /* references, its own */
    struct pfd_strings *loaded;
    char *lines; /* [n_lines], of an old segment, or what entries need */
    size_t n_lines;
    struct pfdd_spool_preamble spool_preamble; /* of entries */
    bool is_briefed; /* nothing that the pieces need is missing */
    bool no_memory;  /* for that */
    /* What it has read. */
    struct pfdd_chunk
        *pieces[PFDD_SPOOL_READER_PIECES]; /* [n_pieces], its own */
    size_t n_pieces;
    size_t n_bytes;
    struct pfdd_manifest needs;
    uint64_t first_seq;
    uint64_t end_seq;
    size_t n_needed; /* bytes of its code objects */
};

/* Begins behind an item. changed: what there is has changed. */
void pfdd_spool_reader_init(
    struct pfdd_spool_reader *spool_reader, struct pfdd_spool_readers *of,
    uint64_t seq, void (*changed)(struct pfdd_spool_reader *spool_reader));
/* It may not be busy. */
void pfdd_spool_reader_deinit(struct pfdd_spool_reader *spool_reader);

/* Begins again behind an item, as wants_entries says. */
void pfdd_spool_reader_rewind(struct pfdd_spool_reader *spool_reader,
                              uint64_t seq);

/* Has more read of a segment; nothing may be left, or on its way. */
void pfdd_spool_reader_read(struct pfdd_spool_reader *spool_reader,
                            const struct pfdd_segment *todo);
/* Sequence number of the last item that its text has; 0: it has none. */
uint64_t pfdd_spool_reader_last(const struct pfdd_spool_reader *spool_reader);
/* True: there is nothing left of what was read. */
bool pfdd_spool_reader_is_empty(const struct pfdd_spool_reader *spool_reader);
void pfdd_spool_reader_retry(struct pfdd_spool_reader *spool_reader);

/* n bytes of its text were taken. */
void pfdd_spool_reader_take(struct pfdd_spool_reader *spool_reader, size_t n);

/* Of memory. */
size_t pfdd_spool_reader_memory(const struct pfdd_spool_reader *spool_reader);

/* The step of reading itself, on any thread; and what was read goes. */
void pfdd_spool_reader_fetch(struct pfdd_spool_reader *spool_reader);
void pfdd_spool_reader_forget(struct pfdd_spool_reader *spool_reader);

#endif
