/* SPDX-License-Identifier: MIT */
/*
 * The inside of the pipeline: the state that all workers share, and each one's
 * own. convert.c hands out batches in turns, convert_batch.c processes them,
 * convert_order.c writes the products.
 */
#ifndef PFD_CONVERT_POOL_H
#define PFD_CONVERT_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include <printfdecode/convert.h>

#include "core/decode/detect_format.h"
#include "core/decode/stream_window.h"
#include "core/decode/walk.h"
#include "core/filter/filter.h"
#include "core/filter/highlight.h"
#include "core/output/finding_counts.h"
#include "core/output/sink.h"
#include "stream/capture/chunk_layout.h"
#include "stream/pipeline/ordered_output.h"
#include "stream/pipeline/synthesized_counts.h"

/* Chunks to read, instead of a buffer to walk over. */
struct pfd_pool_chunks {
    const struct pfd_chunk_bytes *all; /* [n] */
    size_t n;
    size_t next;            /* the next to open */
    struct pfd_chunk chunk; /* the open one */
    uint64_t n_items;       /* its items that are in batches */
    bool is_open;
};

/* A larger number of threads is a typing error, or hostile. */
enum {
    PFD_POOL_THREADS = 64
};

/* A finding of a batch, stored until the batch's turn. */
struct pfd_stored_finding {
    enum pfd_finding_kind kind;
    uint64_t offset;
    uint64_t index;
    size_t text; /* place in pfd_product.sentences, NUL-terminated */
};

/* A worker's product of a batch, until it is written. */
struct pfd_product {
    struct pfd_text out;
    struct pfd_text given;          /* indexes of emitted entries, until they
                                       are handed over */
    struct pfd_chunk_writer *chunk; /* NULL: text is written, or nothing */
    struct pfd_summary summary;
    struct pfd_finding_counts finding_counts;
    struct pfd_unknown_parts unsure;
    struct pfd_stored_finding *kept;
    size_t n_kept;
    size_t kept_room;
    struct pfd_text sentences;
    bool ended;     /* the limit is reached in this batch */
    void *consumer; /* the worker's, of the sink's worker hooks; NULL: none */
};

/* A walk by several workers (convert_split.c). */
struct pfd_split {
    bool is_on;
    bool spins;         /* busy waiting takes no processor from a worker */
    uint64_t front;     /* the slice that the walk so far has reached */
    uint64_t next;      /* to be claimed; front: no slice is claimed ahead */
    uint64_t epoch;     /* claims of an earlier one are void */
    unsigned alone;     /* so many slices are to be walked one by one */
    unsigned n_failed;  /* slices that did not join, recently */
    unsigned n_joined;  /* slices that joined since then */
    unsigned n_idle;    /* workers that wait for a slice to claim */
    atomic_uint n_news; /* grows when workers that wait for the walk have to
                           check again */
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

/* The products of batches, in the order of the walk, and the outcome of writing
 * them (convert_order.c). */
struct pfd_order {
    struct pfd_ordered_output output; /* by batch */
    struct pfd_product *products; /* [n_products]: each worker's, and those in
                                     the output's slots */
    size_t n_products;
    pthread_mutex_t lock; /* guards `summary` and `error` */
    struct pfd_summary summary;
    struct pfd_finding_counts finding_counts;
    struct pfd_unknown_limit unknown_limit;
    uint64_t n_hidden;
    bool *used; /* [pfd_strings_count()], complete after all workers; or NULL */
    struct pfd_error error;
};

struct pfd_pool {
    const struct pfd_convert *convert;
    bool
        has_slice_copies; /* workers walk over slice copies, and now and then over */
    struct pfd_byte_reader whole; /* the buffer */
    struct pfd_format_choice format_choice;
    const struct pfd_format *format;
    const struct pfd_sink *form; /* the output's; NULL: none */
    const struct pfd_sink *sink; /* the consumer's, or the form; NULL: nothing
                                    is rendered */
    struct pfd_sink_options sink_options;
    uint64_t reported;   /* bits: findings of entries that are reported */
    bool is_selective;   /* not all entries are emitted */
    bool limits_unknown; /* limits entries of unknown ids */

    pthread_mutex_t walking; /* guards these: */
    /* By slice: the walk has reached it, or claims are void. */
    pthread_cond_t joined[PFD_POOL_THREADS];
    pthread_cond_t idle; /* there may be a slice to claim */
    struct pfd_split split;
    struct pfd_walk walk;
    struct pfd_windows *windows;    /* NULL: the whole buffer is in view */
    struct pfd_pool_chunks *chunks; /* NULL: the buffer is walked over */
    enum pfd_status walked;         /* PFD_OK until the walk has ended */
    struct pfd_error walk_error;
    uint64_t n_batches;
    uint64_t n_entries;

    struct pfd_order order;

    atomic_bool stop;
    atomic_bool shows_no_more; /* entries of unknown ids */
};

/* Sums of the emitted entries of a string. */
struct pfd_string_sum {
    uint64_t entries;
    uint64_t bytes;
};

/* The walk over the slice that a worker claimed, where it began, and how it
 * ended. */
struct pfd_claim {
    struct pfd_walk walk;
    void *state; /* of that walk; NULL: the format cannot be split */
    uint64_t claimed;
    uint64_t epoch;
    uint64_t begun;
    enum pfd_status walked;
};

struct pfd_worker {
    struct pfd_pool *pool;
    struct pfd_record_batch batch;
    struct pfd_text members; /* of the batch's chunk, NUL-terminated */
    struct pfd_sink_options sink_options;
    struct pfd_claim claim;
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
    struct pfd_filter_run *filter; /* NULL: all entries are selected */
    struct pfd_watch watch;        /* of the consumer */
    struct pfd_synthesized_counts synthesized_counts; /* if there are sums */
    size_t range; /* of convert->ranges: the first that is not passed */
    uint64_t n_given;
    void *consumer;              /* of the sink's worker hooks; NULL: none */
    struct pfd_product *made;    /* its product of the batch */
    struct pfd_string_sum *sums; /* [pfd_strings_count()], or NULL */
    bool *used; /* [pfd_strings_count()]: which strings entries have, or NULL */
    bool failed; /* out of memory */
};

/* Are findings of this kind reported? Notes only on request. */
bool pfd_pool_reports(const struct pfd_convert *convert,
                      enum pfd_finding_kind kind);

/* Fills an empty batch with the next records of the pool's chunks, and sets the
 * facts that these share; pool->walked: PFD_END behind the last. */
void pfd_pool_fill_chunks(struct pfd_pool *pool, struct pfd_worker *w);

/* The format of the first chunk that has entries; if none has, any. */
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

/* Can several workers walk over the rest? */
bool pfd_split_can(const struct pfd_pool *pool);
/* spins: there is a processor for each worker. */
void pfd_split_begin(struct pfd_pool *pool, bool spins);

/* With pool->walking locked, which is released meanwhile: fills the worker's
 * batch with the next records. False: there are none. */
bool pfd_split_take(struct pfd_worker *w);

/* For n workers, the first of which has the first product, and so on. False: out
 * of memory; pfd_order_deinit() is due all the same. */
bool pfd_order_init(struct pfd_pool *pool, size_t n);
void pfd_order_deinit(struct pfd_pool *pool);

/* Lets the run fail, unless it has failed before, and stops all workers. */
void pfd_pool_fail(struct pfd_pool *pool, enum pfd_status status,
                   const char *text);

/* Passes rendered bytes on to the consumer, or to convert->write; one call
 * at a time. */
void pfd_pool_give(struct pfd_pool *pool, const struct pfd_text *out);

/* Waits for the worker's turn, and writes its output so far. */
void pfd_worker_write(struct pfd_worker *w);

/* The product is complete: it is written when its turn comes. */
void pfd_worker_end_turn(struct pfd_worker *w);

/* Counts and renders the entries and findings of the worker's batch. */
void pfd_worker_do_batch(struct pfd_worker *w);

#endif
