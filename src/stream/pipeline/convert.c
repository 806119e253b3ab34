/* SPDX-License-Identifier: MIT */
/*
 * The pipeline: walk, make entries, render them, write. Every worker does all
 * steps for one batch after the other. Workers walk in turns under `walking`
 * (headers only, cheap) or side by side (convert_split.c), make and render
 * entries in parallel, and write in turns again, in the order of the walk. One
 * worker does the same without threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sized.h"
#include "core/base/thread.h"
#include "core/base/thread_pool.h"
#include "stream/pipeline/convert_pool.h"

enum {
    BATCH = 8192 +
            PFD_RECORD_BATCH_SPARE, /* records: enough for any slice of a walk
                                       by several workers */
    BATCH_ALONE = 4096, /* of any other batch; about a megabyte of JSON */
    THREADS_DEFAULT = 16,
    THREADS_COUNTING = 8, /* more threads wait for each other: 60 million
                             entries take 0.11 s with 8 of 16 processors, 0.16
                             with all */
    BATCHES_ALONE = 4, /* small inputs are done before a thread has started */
    SENTENCE = 768,
    COUNTS_MAX = 1024, /* strings */
    IDS_TOLD = 4096,   /* with findings of their own */
};

/* ---- batches, in the order of the walk ---- */

/* After PFD_MORE: moves the view on; false at the end, or after an error. */
static bool advance(struct pfd_pool *pool)
{
    struct pfd_windows *windows = pool->windows;
    struct pfd_walk *walk = &pool->walk;
    if (!windows || walk->last) {
        pool->walked = PFD_END;
        return false;
    }
    pool->walked = pfd_windows_advance(windows, walk->at, &pool->walk_error);
    if (pool->walked != PFD_OK)
        return false;
    walk->view = pfd_byte_reader(windows->current->data, windows->current->n);
    walk->base = windows->current->base;
    walk->last = windows->current->last;
    return true;
}

/* Walks over a slice copy, or over all bytes in view if that does not suffice;
 * the first batch always does so, since a walk begins with the facts of the
 * whole buffer. */
static enum pfd_status walk_some(struct pfd_pool *pool, struct pfd_worker *w)
{
    enum pfd_status (*walk)(struct pfd_walk *) = pool->format->walk;
    enum pfd_status status = PFD_MORE;
    bool has_parts = pool->has_slice_copies && pool->n_batches > 0;
    if (has_parts && pfd_slice_copy_find(w, &pool->walk))
        status = walk(&pool->walk);
    if (status != PFD_MORE || !pfd_record_batch_is_empty(&w->batch))
        return status;
    if (has_parts && pfd_slice_copy_read(w, &pool->walk, pool->walk.at,
                                         pool->walk.at + PFD_SLICE_COPY_BYTES))
        status = walk(&pool->walk);
    if (status != PFD_MORE || !pfd_record_batch_is_empty(&w->batch))
        return status;
    if (has_parts)
        pfd_slice_copy_leave(pool, &pool->walk);
    return walk(&pool->walk);
}

static void walk_on(struct pfd_pool *pool, struct pfd_worker *w)
{
    pool->walk.batch = &w->batch;
    if (pool->n_batches == 0)
        pfd_walk_report_choice(&pool->walk, &pool->format_choice);
    do {
        enum pfd_status status = walk_some(pool, w);
        if (status == PFD_END)
            pool->walked = PFD_END;
        if (status != PFD_MORE || !pfd_record_batch_is_empty(&w->batch))
            break;
    } while (advance(pool));
    pfd_walk_mark_missing(&pool->walk);
}

/* Fills the batch with the next records, or with bytes that were skipped without
 * a finding more; false: there are neither. */
static bool fill(struct pfd_pool *pool, struct pfd_worker *w)
{
    w->batch.max = pool->split.is_on ? BATCH : BATCH_ALONE;
    if (pool->split.is_on)
        return pfd_split_take(w);
    pfd_record_batch_clear(&w->batch);
    if (pool->chunks) {
        pfd_pool_fill_chunks(pool, w);
    } else {
        walk_on(pool, w);
        w->n_entries = pfd_record_batch_entries(&w->batch);
    }
    return !pfd_record_batch_is_empty(&w->batch) || w->batch.skipped_bytes;
}

/* Numbers the batch and its entries. */
static void number(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    const struct pfd_convert *convert = pool->convert;
    w->number = pool->n_batches++;
    w->first_index = pool->n_entries;
    pool->n_entries += w->n_entries;
    if (!convert->filter) /* else one worker counts the entries that pass */
        w->first_wanted = w->first_index;
}

static bool take_batch(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    pthread_mutex_lock(&pool->walking);
    bool more = pool->walked == PFD_OK && !atomic_load(&pool->stop);
    if (more)
        more = fill(pool, w);
    if (more) {
        const struct pfd_walk *walk =
            pool->split.is_on ? &w->claim.walk : &pool->walk;
        number(w);
        w->view = walk->view;
        w->base = walk->base;
        if (pool->has_slice_copies)
            pfd_slice_copy_leave(pool, &pool->walk);
        w->window = pool->windows ? pool->windows->current : NULL;
        if (w->window)
            pfd_window_use(w->window);
        pfd_finding_counts_clear(&w->made->finding_counts);
        pfd_unsure_clear(&w->made->unsure);
        w->made->summary = (struct pfd_summary){
            .lost_bytes = w->batch.lost_bytes,
            .skipped_bytes = w->batch.skipped_bytes,
        };
    }
    if (w->batch.text.failed || w->batch.bytes.failed) {
        w->failed = true; /* records may be without their bytes */
        pfd_record_batch_clear(&w->batch);
    }
    pthread_mutex_unlock(&pool->walking);
    return more;
}

static bool do_next(struct pfd_worker *w)
{
    if (w->failed || !take_batch(w))
        return false;
    pfd_worker_do_batch(w);
    pfd_worker_end_turn(w);
    pfd_window_drop(w->window);
    w->window = NULL;
    return true;
}

/* ---- workers ---- */

/* Are the counts of each string's entries all that is wanted? Counts of many
 * strings do not stay in the cache. */
static bool counts_suffice(const struct pfd_pool *pool)
{
    const struct pfd_convert *convert = pool->convert;
    return !pool->sink && !pool->chunks && !pool->is_selective &&
           !convert->write_chunk &&
           pfd_strings_count(convert->strings) < COUNTS_MAX;
}

/* Sets up what the consumer has entries tested by. */
static bool watch_init(struct pfd_worker *w)
{
    const struct pfd_convert *convert = w->pool->convert;
    const struct pfd_consumer *consumer = convert->consumer;
    if (!consumer || !consumer->watches)
        return true;
    for (size_t i = 0; i < PFD_WATCHES; i++) {
        if (!consumer->watch[i])
            continue;
        if (pfd_filter_run_new(consumer->watch[i], convert->strings,
                               &w->watch.runs[i], NULL) != PFD_OK)
            return false;
        if (convert->facts)
            pfd_filter_run_set(w->watch.runs[i], convert->facts);
    }
    w->sink_options.watch = &w->watch;
    return true;
}

static bool worker_init(struct pfd_worker *w, struct pfd_pool *pool, size_t i)
{
    const struct pfd_convert *convert = pool->convert;
    *w = (struct pfd_worker){ .pool = pool,
                              .sink_options = pool->sink_options,
                              .made = &pool->order.products[i] };
    if (!pfd_entry_source_init(&w->of, convert->source ? convert->source : "-"))
        return false;
    pfd_entry_source_set(&w->of, convert->strings, pool->format,
                         convert->options);
    if (convert->string_entries && convert->string_bytes) {
        size_t n = pfd_strings_count(convert->strings) + 1;
        w->sums = calloc(n, sizeof *w->sums);
        if (!w->sums)
            return false;
    }
    if (pool->sink && pool->sink->worker) {
        w->consumer = pool->sink->worker->open(&pool->sink_options);
        if (!w->consumer)
            return false;
    }
    if (pool->format->split) {
        w->claim.state = malloc(pool->format->state_size);
        if (!w->claim.state)
            return false;
    }
    if (pool->order.used)
        w->used = calloc(pfd_strings_count(convert->strings) + 1, 1);
    if (convert->filter && pfd_filter_run_new(convert->filter, convert->strings,
                                              &w->filter, NULL) != PFD_OK)
        return false;
    if (convert->highlight && convert->color && !convert->consumer &&
        pfd_highlight_new(convert->highlight, &w->sink_options.highlight,
                          NULL) != PFD_OK)
        return false;
    if (w->filter && convert->facts)
        pfd_filter_run_set(w->filter, convert->facts);
    if (!watch_init(w))
        return false;
    return (!pool->order.used || w->used) &&
           pfd_record_batch_init(&w->batch, BATCH) &&
           (!pool->chunks || pfd_record_batch_init_places(&w->batch)) &&
           (!counts_suffice(pool) ||
            pfd_record_batch_init_counts(
                &w->batch, pfd_strings_count(convert->strings) + 1));
}

static void worker_deinit(struct pfd_worker *w)
{
    const struct pfd_convert *convert = w->pool->convert;
    size_t n = w->sums ? pfd_strings_count(convert->strings) : 0;
    for (size_t i = 0; i < n; i++) {
        convert->string_entries[i] += w->sums[i].entries;
        convert->string_bytes[i] += w->sums[i].bytes;
        if (w->used)
            w->used[i] = w->sums[i].entries > 0;
    }
    if (convert->string_sum) {
        pfd_synthesized_counts_give(&w->synthesized_counts, convert->string_sum,
                                    convert->string_sum_user);
    }
    pfd_synthesized_counts_free(&w->synthesized_counts);
    if (convert->n_emitted)
        *convert->n_emitted += w->n_given;
    if (convert->n_doubts && w->filter)
        *convert->n_doubts += pfd_filter_gave_up(w->filter);
    pfd_highlight_free(w->sink_options.highlight);
    pfd_filter_run_free(w->filter);
    for (size_t i = 0; i < PFD_WATCHES; i++)
        pfd_filter_run_free(w->watch.runs[i]);
    if (w->consumer)
        w->pool->sink->worker->close(w->consumer);
    free(w->sums);
    for (size_t i = 0; w->used && i < pfd_strings_count(convert->strings); i++)
        w->pool->order.used[i] |= w->used[i];
    free(w->used);
    free(w->claim.state);
    pfd_slice_copy_deinit(&w->slice_copy);
    pfd_record_batch_deinit(&w->batch);
    pfd_entry_source_deinit(&w->of);
    pfd_text_free(&w->members);
}

static unsigned thread_count(const struct pfd_pool *pool)
{
    const struct pfd_convert *convert = pool->convert;
    if (convert->filter && (convert->skip || convert->limit != UINT64_MAX))
        return 1; /* the choice of entries depends on all before */
    unsigned wanted = convert->threads;
    if (wanted)
        return wanted < PFD_POOL_THREADS ? wanted : PFD_POOL_THREADS;
    unsigned n = pfd_processor_count();
    unsigned most = counts_suffice(pool) ? THREADS_COUNTING : THREADS_DEFAULT;
    return n > most ? most : n;
}

static void work(void *workers, size_t i)
{
    struct pfd_worker *w = (struct pfd_worker *)workers + i;
    while (do_next(w))
        ;
    if (w->failed)
        pfd_pool_fail(w->pool, PFD_ERR_NOMEM, "out of memory");
}

/* Runs workers [n]; the first is the calling thread, which is alone at first.
 * Fewer threads do the same work. */
static void run_workers(struct pfd_pool *pool, struct pfd_worker *workers,
                        size_t n)
{
    bool more = true;
    for (int i = 0; i < BATCHES_ALONE && more; i++)
        more = do_next(&workers[0]);
    n = more ? n : 1;
    if (n > 1 && pfd_split_can(pool))
        pfd_split_begin(pool, n <= pfd_processor_count());
    for (size_t i = 1; i < n; i++)
        workers[i].failed |= !worker_init(&workers[i], pool, i);
    struct pfd_thread_pool *threads = n > 1 ? pfd_thread_pool_new(n - 1) : NULL;
    pfd_thread_pool_share(threads, n, work, workers);
    pfd_thread_pool_free(threads);
    /* Their own counts are added when no other worker has a turn. */
    for (size_t i = 1; i < n; i++)
        worker_deinit(&workers[i]);
}

/* ---- behind all entries ---- */

/* Hands over the findings of entries, in the order of their first entries. */
static void give_tally(struct pfd_pool *pool, const char *source,
                       struct pfd_text *out)
{
    const struct pfd_convert *convert = pool->convert;
    struct pfd_text text = { 0 };
    struct pfd_finding finding;
    for (size_t i = 0; pfd_finding_counts_finding(&pool->order.finding_counts,
                                                  i, source, &text, &finding);
         i++) {
        if (pool->sink && pool->sink->finding)
            pool->sink->finding(out, &finding, &pool->sink_options);
        if (convert->finding)
            convert->finding(convert->finding_user, &finding);
    }
    if (pool->order.finding_counts.failed || text.failed)
        pfd_pool_fail(pool, PFD_ERR_NOMEM, "out of memory");
    pfd_text_free(&text);
}

static void count_ids(const struct pfd_pool *pool)
{
    const struct pfd_convert *convert = pool->convert;
    struct pfd_id_counts counts = { 0 };
    if (!pool->order.used)
        return;
    for (size_t i = 0; i < pfd_strings_count(convert->strings); i++)
        counts.known += pool->order.used[i];
    for (size_t i = 0; i < pool->order.finding_counts.n; i++) {
        counts.unknown +=
            pool->order.finding_counts.rows[i].kind == PFD_FINDING_unknown_id;
    }
    counts.is_more =
        pool->order.finding_counts.rest[PFD_FINDING_unknown_id].count;
    pfd_sized_give(convert->id_counts, &counts, sizeof counts, NULL);
}

/* Writes the output behind all entries. After an error there is none; but a
 * callback that stopped still gets findings. */
static void give_end(struct pfd_pool *pool, const char *source)
{
    const struct pfd_sink *sink = pool->sink;
    struct pfd_text out = { 0 };
    if (pool->order.error.code != PFD_OK &&
        pool->order.error.code != PFD_ERR_STOPPED)
        return;
    if (pool->order.n_hidden)
        sink->hidden(&out, pool->order.n_hidden, &pool->sink_options);
    give_tally(pool, source, &out);
    if (sink && sink->summary)
        sink->summary(&out, &pool->order.summary, source, &pool->sink_options);
    if (pool->order.error.code == PFD_OK)
        pfd_pool_give(pool, &out);
    pfd_text_free(&out);
    count_ids(pool);
}

static bool start(struct pfd_pool *pool, struct pfd_worker **workers,
                  unsigned n)
{
    const struct pfd_convert *convert = pool->convert;
    pool->order.finding_counts.max = IDS_TOLD;
    if (convert->id_counts) {
        pool->order.used = calloc(pfd_strings_count(convert->strings) + 1, 1);
        if (!pool->order.used)
            return false;
    }
    *workers = calloc(n, sizeof **workers);
    return *workers && worker_init(*workers, pool, 0);
}

static enum pfd_status run(struct pfd_pool *pool, struct pfd_error *err)
{
    unsigned n = thread_count(pool);
    struct pfd_worker *workers = NULL;
    const char *source = pool->convert->source ? pool->convert->source : "-";
    if (pfd_order_init(pool, n) && start(pool, &workers, n)) {
        run_workers(pool, workers, n);
        if (pool->order.error.code == PFD_OK && pool->walked < 0)
            pool->order.error = pool->walk_error;
    } else {
        pfd_fail(&pool->order.error, PFD_ERR_NOMEM, PFD_NO_OFFSET,
                 "out of memory");
    }
    if (workers)
        worker_deinit(&workers[0]);
    free(workers);
    give_end(pool, source);
    pfd_order_deinit(pool);
    pfd_finding_counts_free(&pool->order.finding_counts);
    free(pool->order.used);
    if (pool->order.error.code != PFD_OK && err)
        *err = pool->order.error;
    return pool->order.error.code;
}

static uint64_t reported_kinds(const struct pfd_convert *convert)
{
    uint64_t kinds = 0;
    for (unsigned i = 0; i < PFD_ENTRY_FINDING_KINDS; i++) {
        if (pfd_pool_reports(convert, (enum pfd_finding_kind)i))
            kinds |= UINT64_C(1) << i;
    }
    return kinds;
}

/* Chooses the format: by its name, by the strings, or by the first bytes, of a
 * stream by its first window's. */
static enum pfd_status choose(struct pfd_pool *pool, struct pfd_error *err)
{
    const struct pfd_convert *convert = pool->convert;
    struct pfd_walk *walk = &pool->walk;
    if (pool->chunks) {
        pool->format = pfd_chunks_format(pool);
        return PFD_OK;
    }
    enum pfd_status status =
        pfd_detect_format(convert->strings, convert->format, NULL, false,
                          &pool->format_choice, err);
    if (status != PFD_OK)
        return status;
    if (pool->windows && !advance(pool)) {
        if (err)
            *err = pool->walk_error;
        return pool->walked;
    }
    /* A window holds more bytes than detection reads. */
    status = pfd_detect_format(convert->strings, convert->format, &walk->view,
                               walk->last, &pool->format_choice, err);
    pool->format = pool->format_choice.format;
    return status;
}

/* Chooses the sink of entries, and sets its options. */
static void set_sink(struct pfd_pool *pool, const struct pfd_convert *convert)
{
    struct pfd_sink_options *options = &pool->sink_options;
    const struct pfd_consumer *consumer = convert->consumer;
    pool->sink = consumer ? consumer->sink : pool->form;
    if (consumer) {
        options->form = pool->form;
        options->pieces = consumer->pieces;
        options->points = consumer->points;
        options->sequence = UINT64_MAX;
        if (pool->sink->worker)
            pool->sink->worker->begin(options);
    }
    options->color = convert->color;
    options->show = convert->show | (convert->origin ? PFD_SHOW_ORIGIN : 0);
    options->links = convert->links;
    options->inline_findings = convert->inline_findings;
    options->time = convert->row_time;
    options->finding_marks = convert->finding_marks;
    options->fields = convert->fields;
    pfd_sink_set_members(options, convert->members);
    pfd_sink_set_origin_members(options, convert->origin_members);
}

/* Clears what the caller gets in the end, whose sizes are read before the work. */
static enum pfd_status clear_results(const struct pfd_convert *convert,
                                     struct pfd_summary *summary,
                                     struct pfd_error *err)
{
    static const struct pfd_summary no_entries;
    static const struct pfd_id_counts no_ids;
    enum pfd_status status =
        pfd_sized_give(summary, &no_entries, sizeof no_entries, err);
    if (status != PFD_OK || !convert->id_counts)
        return status;
    return pfd_sized_give(convert->id_counts, &no_ids, sizeof no_ids, err);
}

static enum pfd_status convert_walk(const struct pfd_convert *convert,
                                    struct pfd_pool *pool,
                                    struct pfd_summary *summary,
                                    struct pfd_error *err)
{
    pool->convert = convert;
    if (clear_results(convert, summary, err) != PFD_OK)
        return PFD_ERR_USAGE;
    if (convert->output && !(pool->form = pfd_sink_find(convert->output))) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "no output is called '%s'", convert->output);
    }
    enum pfd_status status = choose(pool, err);
    if (status != PFD_OK)
        return status;
    set_sink(pool, convert);
    pool->reported = reported_kinds(convert);
    pool->limits_unknown =
        convert->limit_unknown && pool->form && pool->form->hidden;
    pool->is_selective = convert->filter || convert->skip || convert->ranges ||
                         convert->emitted || convert->limit != UINT64_MAX;
    struct pfd_walk walk;
    if (!pfd_walk_init(&walk, pool->format, convert->strings, convert->options))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    walk.view = pool->walk.view;
    walk.last = pool->walk.last;
    if (!pool->windows) {
        walk.holes = convert->holes;
        walk.n_holes = convert->n_holes;
        walk.missing = convert->missing;
        walk.n_missing = convert->n_missing;
    }
    pool->walk = walk;
    pool->whole = walk.view;
    pool->has_slice_copies = pfd_slice_copy_can(pool);
    pfd_mutex_init_short(&pool->walking);
    pthread_cond_init(&pool->idle, NULL);
    for (size_t i = 0; i < PFD_POOL_THREADS; i++)
        pthread_cond_init(&pool->joined[i], NULL);
    atomic_init(&pool->stop, false);
    atomic_init(&pool->shows_no_more, false);
    status = run(pool, err);
    for (size_t i = 0; i < PFD_POOL_THREADS; i++)
        pthread_cond_destroy(&pool->joined[i]);
    pthread_cond_destroy(&pool->idle);
    pthread_mutex_destroy(&pool->walking);
    pfd_walk_deinit(&pool->walk);
    pfd_sized_give(summary, &pool->order.summary, sizeof *summary, NULL);
    return status;
}

/* What the members of a caller's struct mean. */
struct meaning {
    struct pfd_convert convert;
    struct pfd_options options;
};

static enum pfd_status read_meaning(struct meaning *ret,
                                    const struct pfd_convert *convert,
                                    struct pfd_error *err)
{
    static const struct pfd_options defaults;
    struct pfd_convert *c = &ret->convert;
    enum pfd_status status = pfd_sized_take(c, sizeof *c, convert, err);
    if (status == PFD_OK) {
        status = pfd_sized_take(&ret->options, sizeof ret->options,
                                c->options ? c->options : &defaults, err);
    }
    if (status != PFD_OK)
        return status;
    c->options = &ret->options;
    c->limit = c->no_entries ? 0 : c->limit ? c->limit : UINT64_MAX;
    return PFD_OK;
}

enum pfd_status pfd_convert_bytes(const struct pfd_convert *convert,
                                  const void *bytes, size_t n,
                                  struct pfd_summary *summary,
                                  struct pfd_error *err)
{
    struct meaning own;
    if (read_meaning(&own, convert, err) != PFD_OK)
        return PFD_ERR_USAGE;
    struct pfd_pool pool = { .walk = { .view = pfd_byte_reader(bytes, n),
                                       .last = true } };
    return convert_walk(&own.convert, &pool, summary, err);
}

enum pfd_status pfd_convert_stream(const struct pfd_convert *convert,
                                   pfd_read_fn read, void *read_user,
                                   struct pfd_summary *summary,
                                   struct pfd_error *err)
{
    struct meaning own;
    if (read_meaning(&own, convert, err) != PFD_OK)
        return PFD_ERR_USAGE;
    struct pfd_windows windows = { .read = read, .user = read_user };
    struct pfd_pool pool = { .windows = &windows };
    enum pfd_status status = convert_walk(&own.convert, &pool, summary, err);
    pfd_window_drop(windows.current);
    return status;
}

enum pfd_status pfd_convert_chunks(const struct pfd_convert *convert,
                                   const struct pfd_chunk_bytes *chunks,
                                   size_t n, struct pfd_summary *summary,
                                   struct pfd_error *err)
{
    struct meaning own;
    if (read_meaning(&own, convert, err) != PFD_OK)
        return PFD_ERR_USAGE;
    struct pfd_pool_chunks all = { .all = chunks, .n = n };
    struct pfd_pool pool = { .chunks = &all };
    enum pfd_status status = convert_walk(&own.convert, &pool, summary, err);
    pfd_chunk_close(&all.chunk);
    return status;
}
