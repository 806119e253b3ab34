/* SPDX-License-Identifier: MIT */
/*
 * The pump's inside: what all workers share, and what each has for itself.
 * convert.c gives out work in turns, convert_batch.c does it.
 */
#ifndef PFD_CONVERT_POOL_H
#define PFD_CONVERT_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include <printfdecode/convert.h>

#include "decode/decoder.h"
#include "decode/window.h"
#include "filter/filter.h"
#include "forms/shown.h"
#include "forms/sink.h"
#include "forms/tally.h"
#include "wire/chunk.h"

/* Chunks that are read instead of a buffer that is walked over. */
struct pfd_pool_chunks {
    const struct pfd_chunk_bytes *all; /* [n] */
    size_t n;
    size_t next;            /* to be opened */
    struct pfd_chunk chunk; /* that is read */
    bool is_open;
};

struct pfd_pool {
    const struct pfd_convert *convert;
    struct pfd_choice choice;
    const struct pfd_format *format;
    const struct pfd_sink *sink; /* NULL: nothing is printed */
    struct pfd_sink_options sink_options;
    uint64_t reported; /* bits: findings of entries that are handed over */
    bool is_selective; /* not all entries are given */
    bool hides;        /* most entries of unknown ids */

    pthread_mutex_t walking; /* guards these: */
    struct pfd_walk walk;
    struct pfd_windows *windows;    /* NULL: the whole buffer is in view */
    struct pfd_pool_chunks *chunks; /* NULL: the buffer is walked over */
    enum pfd_status walked;         /* PFD_OK until the walk has ended */
    struct pfd_error walk_error;
    uint64_t n_batches;
    uint64_t n_entries;

    pthread_mutex_t turn; /* guards these: */
    pthread_cond_t turned;
    uint64_t n_written; /* batches */
    struct pfd_summary summary;
    struct pfd_tally tally;
    struct pfd_shown shown;
    uint64_t n_hidden;
    bool *used; /* [pfd_strings_count()], when all workers are done; or NULL */
    struct pfd_error error;

    atomic_bool stop;
    atomic_bool shows_no_more; /* of unknown ids */
};

/* A finding of this batch, kept until the batch's turn. */
struct pfd_kept {
    enum pfd_finding_kind kind;
    uint64_t offset;
    uint64_t index;
    size_t text; /* place in worker.sentences, NUL-terminated */
};

struct pfd_worker {
    struct pfd_pool *pool;
    struct pfd_batch batch;
    struct pfd_text members; /* of the batch's chunk, NUL-terminated */
    struct pfd_sink_options sink_options;
    uint64_t number; /* of the batch */
    uint64_t first_index;
    uint64_t first_wanted;
    struct pfd_window *window; /* holds the batch's bytes; NULL: no windows */
    struct pfd_cursor view;
    uint64_t base;
    struct pfd_entry_source of;
    struct pfd_filter_run *filter; /* NULL: all entries are wanted */
    size_t range;                  /* of convert->ranges: that is not passed */
    struct pfd_text given;         /* indexes, until they are handed over */
    uint64_t n_given;
    struct pfd_text out;
    struct pfd_chunk_writer *chunk; /* NULL: text is written, or nothing */
    struct pfd_summary summary;     /* of the batch */
    struct pfd_tally tally;         /* likewise */
    struct pfd_unsure unsure;       /* likewise */
    struct pfd_kept *kept;
    size_t n_kept;
    size_t kept_room;
    struct pfd_text sentences;
    uint64_t *entries; /* [pfd_strings_count()], or NULL */
    uint64_t *bytes;
    bool *used; /* [pfd_strings_count()]: which strings entries have, or NULL */
    bool in_turn; /* this worker's batch may be written */
    bool ended;   /* the limit is reached in this batch */
    bool failed;  /* out of memory */
    pthread_t thread;
};

/* Notes are handed over only where they are asked for. */
bool pfd_pool_reports(const struct pfd_convert *convert,
                      enum pfd_finding_kind kind);

/* Fills an empty batch with the next records of the pool's chunks, and says
 * what their records have in common; pool->walked: PFD_END behind the last. */
void pfd_pool_fill_chunks(struct pfd_pool *pool, struct pfd_worker *w);

/* The format of the chunks' entries, by the first that has some; any, where
 * none has. */
const struct pfd_format *pfd_chunks_format(const struct pfd_pool *pool);

/* Waits for the worker's turn, and writes what it has printed so far. */
void pfd_worker_write(struct pfd_worker *w);

/* Counts and prints the entries and findings of the worker's batch. */
void pfd_worker_do_batch(struct pfd_worker *w);

#endif
