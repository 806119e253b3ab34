/* SPDX-License-Identifier: MIT */
/*
 * The pump's inside: what all workers share, and what each has for itself.
 * convert.c gives out work in turns, convert_batch.c does it, convert_order.c
 * writes what was made of it.
 */
#ifndef PFD_CONVERT_POOL_H
#define PFD_CONVERT_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include <printfdecode/convert.h>

#include "analysis/plot/worker_share.h"
#include "core/decode/decoder.h"
#include "core/decode/stream_window.h"
#include "core/filter/filter.h"
#include "core/filter/highlight.h"
#include "core/output/finding_counts.h"
#include "core/output/points.h"
#include "core/output/sink.h"
#include "core/output/unknown_limit.h"
#include "core/output/value_rows.h"
#include "stream/capture/chunk_layout.h"
#include "stream/pipeline/synthesized_counts.h"

/* Chunks that are read instead of a buffer that is walked over. */
struct pfd_pool_chunks {
    const struct pfd_chunk_bytes *all; /* [n] */
    size_t n;
    size_t next;            /* to be opened */
    struct pfd_chunk chunk; /* that is read */
    uint64_t n_items;       /* of it, that are in batches */
    bool is_open;
};

/* A hostile number of threads is a typing error. */
enum {
    PFD_POOL_THREADS = 64
};

/* A finding of a batch, kept until the batch's turn. */
struct pfd_kept {
    enum pfd_finding_kind kind;
    uint64_t offset;
    uint64_t index;
    size_t text; /* place in pfd_product.sentences, NUL-terminated */
};

/* What a worker makes of a batch, until it is written. */
struct pfd_product {
    struct pfd_text out;
    struct pfd_text given;          /* indexes, until they are handed over */
    struct pfd_chunk_writer *chunk; /* NULL: text is written, or nothing */
    struct pfd_summary summary;
    struct pfd_finding_counts finding_counts;
    struct pfd_unsure unsure;
    struct pfd_kept *kept;
    size_t n_kept;
    size_t kept_room;
    struct pfd_text sentences;
    bool ended;    /* the limit is reached in this batch */
    bool is_ready; /* in a slot: it awaits its turn */
};

/* A walk by several workers (convert_split.c). */
struct pfd_split {
    bool is_on;
    bool spins;         /* who waits for another's walk is not in its way */
    uint64_t front;     /* the stretch that the walk so far has come to */
    uint64_t next;      /* to be claimed; front: nobody looks ahead */
    uint64_t epoch;     /* claims of an earlier one are void */
    unsigned alone;     /* so many stretches are to be walked one by one */
    unsigned n_failed;  /* stretches that did not join, of late */
    unsigned n_joined;  /* since then */
    unsigned n_idle;    /* workers that wait for a stretch to claim */
    atomic_uint n_news; /* grows when something may have changed for those who
                           wait for the walk */
};

enum {
    PFD_SLICE_COPY_BYTES = 128 * 1024 /* at most */
};

/* Bytes [n] of the buffer, from `from` on, that one worker walks over. */
struct pfd_slice_copy {
    uint8_t *bytes; /* [PFD_SLICE_COPY_BYTES], owned; NULL: none was made yet */
    uint64_t from;
    size_t n;
};

struct pfd_pool {
    const struct pfd_convert *convert;
    bool has_parts; /* workers walk over some, and now and then over */
    struct pfd_byte_reader whole; /* the buffer */
    struct pfd_format_choice format_choice;
    const struct pfd_format *format;
    const struct pfd_sink *sink; /* NULL: nothing is printed */
    struct pfd_sink_options sink_options;
    uint64_t reported; /* bits: findings of entries that are handed over */
    bool is_selective; /* not all entries are given */
    bool hides;        /* most entries of unknown ids */

    pthread_mutex_t walking; /* guards these: */
    /* By stretch: the walk has come to it, or claims are void. */
    pthread_cond_t joined[PFD_POOL_THREADS];
    pthread_cond_t idle; /* there may be a stretch to claim */
    struct pfd_split split;
    struct pfd_walk walk;
    struct pfd_windows *windows;    /* NULL: the whole buffer is in view */
    struct pfd_pool_chunks *chunks; /* NULL: the buffer is walked over */
    enum pfd_status walked;         /* PFD_OK until the walk has ended */
    struct pfd_error walk_error;
    uint64_t n_batches;
    uint64_t n_entries;

    pthread_mutex_t turn;                    /* guards these: */
    pthread_cond_t turned[PFD_POOL_THREADS]; /* by batch: it is its turn */
    struct pfd_product *slots; /* [n_slots], by batch: made before their turn */
    size_t n_slots;
    uint64_t n_written; /* batches */
    bool is_writing;    /* somebody has the turn of batch n_written */
    struct pfd_summary summary;
    struct pfd_finding_counts finding_counts;
    struct pfd_unknown_limit unknown_limit;
    uint64_t n_hidden;
    bool *used; /* [pfd_strings_count()], when all workers are done; or NULL */
    struct pfd_error error;

    atomic_bool stop;
    atomic_bool shows_no_more; /* of unknown ids */
};

/* Of the given entries of a string. */
struct pfd_string_sum {
    uint64_t entries;
    uint64_t bytes;
};

struct pfd_worker {
    struct pfd_pool *pool;
    struct pfd_batch batch;
    struct pfd_text members; /* of the batch's chunk, NUL-terminated */
    struct pfd_sink_options sink_options;
    /* A walk over the stretch that was claimed, where it began, how it
     * ended. */
    struct pfd_walk walk;
    void *state; /* of that walk; NULL where there are none */
    uint64_t stretch;
    uint64_t epoch;
    uint64_t begun;
    enum pfd_status walked;
    uint64_t n_entries; /* in the batch */
    uint64_t number;    /* of the batch */
    uint64_t first_index;
    uint64_t first_wanted;
    uint64_t sequence; /* of chunks: number of record `numbered` */
    size_t numbered;
    struct pfd_slice_copy slice_copy;
    struct pfd_window *window; /* holds the batch's bytes; NULL: no windows */
    struct pfd_byte_reader view;
    uint64_t base;
    struct pfd_entry_source of;
    struct pfd_filter_run *filter; /* NULL: all entries are wanted */
    struct pfd_synthesized_counts synthesized_counts; /* where there are sums */
    size_t range; /* of convert->ranges: that is not passed */
    uint64_t n_given;
    struct pfd_worker_share *worker_share; /* of a picture; NULL: it has none */
    struct pfd_product made;               /* of the batch */
    struct pfd_string_sum *sums;           /* [pfd_strings_count()], or NULL */
    bool *used; /* [pfd_strings_count()]: which strings entries have, or NULL */
    bool in_turn; /* this worker's batch may be written */
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

/* Are walks over parts worth it, and possible? */
bool pfd_slice_copy_can(const struct pfd_pool *pool);
void pfd_slice_copy_deinit(struct pfd_slice_copy *slice_copy);

/* From now on the walk is over the worker's part, if `at` is in it; or over a
 * new one, [from, to). False: it is over what it was. */
bool pfd_slice_copy_find(struct pfd_worker *w, struct pfd_walk *walk);
bool pfd_slice_copy_read(struct pfd_worker *w, struct pfd_walk *walk,
                         uint64_t from, uint64_t to);

/* From now on it is over the buffer. */
void pfd_slice_copy_leave(const struct pfd_pool *pool, struct pfd_walk *walk);

/* Can several workers walk over what is left? */
bool pfd_split_can(const struct pfd_pool *pool);
/* spins: there is a processor for each worker. */
void pfd_split_begin(struct pfd_pool *pool, bool spins);

/* With pool->walking locked, which it gives up meanwhile: fills the worker's
 * batch with the records that come next. False: there are none. */
bool pfd_split_take(struct pfd_worker *w);

bool pfd_product_init(struct pfd_product *made,
                      const struct pfd_convert *convert);
void pfd_product_deinit(struct pfd_product *made);

/* False when out of memory. */
bool pfd_slots_init(struct pfd_pool *pool, size_t n);
void pfd_slots_deinit(struct pfd_pool *pool);

/* The run fails, unless it has failed before, and everybody stops. */
void pfd_pool_fail(struct pfd_pool *pool, enum pfd_status status,
                   const char *text);

/* Hands text to convert->write; one at a time. */
void pfd_pool_give(struct pfd_pool *pool, const struct pfd_text *out);

/* Waits for the worker's turn, and writes what it has printed so far. */
void pfd_worker_write(struct pfd_worker *w);

/* The batch is made: it is written when its turn comes. */
void pfd_worker_end_turn(struct pfd_worker *w);

/* Counts and prints the entries and findings of the worker's batch. */
void pfd_worker_do_batch(struct pfd_worker *w);

#endif
