/* SPDX-License-Identifier: MIT */
/*
 * The pump: walk, make entries, print them, write. Every worker does all of
 * it for one batch after the other: walking goes in turns under `walking`
 * (headers only, cheap), making and printing in parallel, writing in turns
 * again, in the order of the walk. One worker is the same with no threads.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "convert/convert_pool.h"

enum {
    BATCH = 4096,     /* records; about a megabyte of JSON */
    THREADS_MAX = 64, /* a hostile number of threads is a typing error */
    THREADS_DEFAULT = 16,
    BATCHES_ALONE = 4, /* small inputs are done before a thread has started */
    SENTENCE = 768,
    IDS_TOLD = 4096, /* with findings of their own */
};

/* ---- turns ---- */

static void fail(struct pfd_pool *pool, enum pfd_status status,
                 const char *text)
{
    pthread_mutex_lock(&pool->turn);
    if (pool->error.code == PFD_OK)
        pfd_fail(&pool->error, status, PFD_NO_OFFSET, "%s", text);
    atomic_store(&pool->stop, true);
    pthread_cond_broadcast(&pool->turned);
    pthread_mutex_unlock(&pool->turn);
}

/* Waits until all batches before this one are written. */
static void await_turn(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    if (w->in_turn)
        return;
    pthread_mutex_lock(&pool->turn);
    while (pool->n_written != w->number && !atomic_load(&pool->stop))
        pthread_cond_wait(&pool->turned, &pool->turn);
    w->in_turn = true;
    pthread_mutex_unlock(&pool->turn);
}

/* The kept findings; only in this worker's turn. */
static void hand_over(struct pfd_worker *w)
{
    const struct pfd_convert *convert = w->pool->convert;
    if (w->sentences.failed)
        return; /* out of memory: the run fails, with what was said so far */
    for (size_t i = 0; i < w->n_kept && convert->finding; i++) {
        const struct pfd_kept *kept = &w->kept[i];
        struct pfd_finding finding = {
            .kind = kept->kind,
            .offset = kept->offset,
            .index = kept->index,
            .in_buffer = true,
            .source = w->of.source,
            .text = w->sentences.data + kept->text,
        };
        convert->finding(convert->finding_user, &finding);
    }
    w->n_kept = 0;
    w->sentences.n = 0;
}

static void give(struct pfd_pool *pool, const struct pfd_text *out)
{
    const struct pfd_convert *convert = pool->convert;
    if (out->failed) {
        fail(pool, PFD_ERR_NOMEM, "out of memory");
    } else if (out->n && convert->write &&
               !convert->write(convert->write_user, out->data, out->n)) {
        fail(pool, PFD_ERR_STOPPED, "writing was stopped");
    }
}

static void give_chunk(struct pfd_pool *pool, struct pfd_chunk_writer *writer)
{
    const struct pfd_convert *convert = pool->convert;
    size_t n = pfd_chunk_size(writer);
    const void *bytes = n ? pfd_chunk_finish(writer, &n) : NULL;
    if (!bytes && n) {
        fail(pool, PFD_ERR_NOMEM, "out of memory");
    } else if (bytes && !convert->write_chunk(convert->write_user, bytes, n,
                                              pfd_chunk_count(bytes, n))) {
        fail(pool, PFD_ERR_STOPPED, "writing was stopped");
    }
}

void pfd_worker_write(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    await_turn(w);
    if (!atomic_load(&pool->stop)) {
        hand_over(w);
        pool->n_hidden += pfd_shown_cut(&pool->shown, &w->unsure, &w->out);
        atomic_store(&pool->shows_no_more, pool->shown.n == PFD_SHOWN_MAX);
        give(pool, &w->out);
        if (w->given.n) {
            pool->convert->given(pool->convert->given_user,
                                 (const void *)w->given.data,
                                 w->given.n / sizeof(uint64_t));
        }
        if (w->chunk)
            give_chunk(pool, w->chunk);
    }
    w->out.n = 0;
    w->given.n = 0;
}

static void end_turn(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    const struct pfd_convert *convert = pool->convert;
    pthread_mutex_lock(&pool->turn);
    bool stopped = atomic_load(&pool->stop);
    if (!stopped) {
        pfd_summary_add(&pool->summary, &w->summary);
        pfd_tally_merge(&pool->tally, &w->tally);
        pool->n_hidden += w->unsure.n_hidden;
    }
    if (w->ended)
        atomic_store(&pool->stop, true);
    struct pfd_summary so_far = pool->summary;
    pthread_mutex_unlock(&pool->turn);
    if (!stopped && convert->progress &&
        !convert->progress(convert->progress_user, &so_far))
        fail(pool, PFD_ERR_STOPPED, "stopped");
    pthread_mutex_lock(&pool->turn);
    pool->n_written++;
    pthread_cond_broadcast(&pool->turned);
    pthread_mutex_unlock(&pool->turn);
    w->in_turn = false;
}

/* ---- batches, in the order of the walk ---- */

/* PFD_MORE: moves the view on; false when there is nothing more or an error. */
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
    walk->view = pfd_cursor(windows->current->data, windows->current->n);
    walk->base = windows->current->base;
    walk->last = windows->current->last;
    return true;
}

static void walk_on(struct pfd_pool *pool, struct pfd_batch *batch)
{
    pool->walk.batch = batch;
    if (pool->n_batches == 0)
        pfd_walk_report_choice(&pool->walk, &pool->choice);
    do {
        enum pfd_status status = pool->format->walk(&pool->walk);
        if (status == PFD_END)
            pool->walked = PFD_END;
        if (status != PFD_MORE || batch->n)
            break;
    } while (advance(pool));
    pfd_walk_mark_missing(&pool->walk);
}

static void fill(struct pfd_pool *pool, struct pfd_worker *w)
{
    pfd_batch_clear(&w->batch);
    if (pool->chunks) {
        pfd_pool_fill_chunks(pool, w);
    } else {
        walk_on(pool, &w->batch);
    }
}

/* Numbers the batch and its entries. */
static void number(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    const struct pfd_convert *convert = pool->convert;
    w->number = pool->n_batches++;
    w->first_index = pool->n_entries;
    for (size_t i = 0; i < w->batch.n; i++)
        pool->n_entries += w->batch.records[i].kind == PFD_RECORD_ENTRY;
    if (!convert->filter) /* else one worker goes on counting what passed */
        w->first_wanted = w->first_index;
}

static bool take_batch(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    pthread_mutex_lock(&pool->walking);
    bool more = pool->walked == PFD_OK && !atomic_load(&pool->stop);
    if (more) {
        fill(pool, w);
        more = w->batch.n > 0;
    }
    if (more) {
        number(w);
        w->view = pool->walk.view;
        w->base = pool->walk.base;
        w->window = pool->windows ? pool->windows->current : NULL;
        if (w->window)
            pfd_window_use(w->window);
        pfd_tally_clear(&w->tally);
        pfd_unsure_clear(&w->unsure);
        w->summary = (struct pfd_summary){
            .lost_bytes = w->batch.lost_bytes,
            .skipped_bytes = w->batch.skipped_bytes,
        };
    }
    w->failed |= w->batch.text.failed || w->batch.bytes.failed;
    pthread_mutex_unlock(&pool->walking);
    return more;
}

static bool do_next(struct pfd_worker *w)
{
    if (w->failed || !take_batch(w))
        return false;
    pfd_worker_do_batch(w);
    pfd_worker_write(w);
    end_turn(w);
    pfd_window_drop(w->window);
    w->window = NULL;
    return true;
}

static void *work(void *arg)
{
    struct pfd_worker *w = arg;
    while (do_next(w))
        ;
    if (w->failed)
        fail(w->pool, PFD_ERR_NOMEM, "out of memory");
    return NULL;
}

/* ---- workers ---- */

static bool worker_init(struct pfd_worker *w, struct pfd_pool *pool)
{
    const struct pfd_convert *convert = pool->convert;
    *w =
        (struct pfd_worker){ .pool = pool, .sink_options = pool->sink_options };
    if (!pfd_entry_source_init(&w->of, convert->source ? convert->source : "-"))
        return false;
    pfd_entry_source_set(&w->of, convert->strings, pool->format,
                         &convert->options);
    if (convert->write_chunk && pfd_chunk_writer_new(&w->chunk, NULL) != PFD_OK)
        return false;
    if (convert->string_entries && convert->string_bytes) {
        size_t n = pfd_strings_count(convert->strings) + 1;
        w->entries = calloc(n, sizeof *w->entries);
        w->bytes = calloc(n, sizeof *w->bytes);
        if (!w->entries || !w->bytes)
            return false;
    }
    if (pool->used)
        w->used = calloc(pfd_strings_count(convert->strings) + 1, 1);
    if (convert->filter && pfd_filter_run_new(convert->filter, convert->strings,
                                              &w->filter, NULL) != PFD_OK)
        return false;
    return (!pool->used || w->used) && pfd_batch_init(&w->batch, BATCH) &&
           (!pool->chunks || pfd_batch_init_places(&w->batch));
}

static void worker_deinit(struct pfd_worker *w)
{
    const struct pfd_convert *convert = w->pool->convert;
    size_t n = w->entries && w->bytes ? pfd_strings_count(convert->strings) : 0;
    for (size_t i = 0; i < n; i++) {
        convert->string_entries[i] += w->entries[i];
        convert->string_bytes[i] += w->bytes[i];
        if (w->used)
            w->used[i] = w->entries[i] > 0;
    }
    if (convert->n_given)
        *convert->n_given += w->n_given;
    if (convert->n_doubts && w->filter)
        *convert->n_doubts += pfd_filter_gave_up(w->filter);
    pfd_filter_run_free(w->filter);
    free(w->entries);
    free(w->bytes);
    for (size_t i = 0; w->used && i < pfd_strings_count(convert->strings); i++)
        w->pool->used[i] |= w->used[i];
    free(w->used);
    pfd_tally_free(&w->tally);
    pfd_unsure_free(&w->unsure);
    pfd_batch_deinit(&w->batch);
    pfd_entry_source_deinit(&w->of);
    pfd_text_free(&w->out);
    pfd_text_free(&w->sentences);
    pfd_text_free(&w->members);
    pfd_text_free(&w->given);
    pfd_chunk_writer_free(w->chunk);
    free(w->kept);
}

static unsigned thread_count(const struct pfd_convert *convert)
{
    if (convert->filter && (convert->skip || convert->limit != UINT64_MAX))
        return 1; /* which entries are given depends on all before */
    if (convert->threads)
        return convert->threads < THREADS_MAX ? convert->threads : THREADS_MAX;
    cpu_set_t set;
    CPU_ZERO(&set);
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : n > THREADS_DEFAULT ? THREADS_DEFAULT : (unsigned)n;
}

/* Workers [n]; the first is the calling thread, and is alone for a while. */
static void run_workers(struct pfd_pool *pool, struct pfd_worker *workers,
                        unsigned n)
{
    unsigned started = 1;
    bool more = true;
    for (int i = 0; i < BATCHES_ALONE && more; i++)
        more = do_next(&workers[0]);
    for (; more && started < n; started++) {
        struct pfd_worker *w = &workers[started];
        if (!worker_init(w, pool))
            w->failed = true;
        if (pthread_create(&w->thread, NULL, work, w)) {
            worker_deinit(w);
            break; /* fewer threads do the same work */
        }
    }
    work(&workers[0]);
    for (unsigned i = 1; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        worker_deinit(&workers[i]);
    }
}

/* ---- behind all entries ---- */

/* The findings of entries, in the order of the first entry of each. */
static void give_tally(struct pfd_pool *pool, const char *source,
                       struct pfd_text *out)
{
    const struct pfd_convert *convert = pool->convert;
    struct pfd_text text = { 0 };
    struct pfd_finding finding;
    for (size_t i = 0;
         pfd_tally_finding(&pool->tally, i, source, &text, &finding); i++) {
        if (pool->sink && pool->sink->finding)
            pool->sink->finding(out, &finding, &pool->sink_options);
        if (convert->finding)
            convert->finding(convert->finding_user, &finding);
    }
    if (pool->tally.failed || text.failed)
        fail(pool, PFD_ERR_NOMEM, "out of memory");
    pfd_text_free(&text);
}

static void count_ids(const struct pfd_pool *pool)
{
    const struct pfd_convert *convert = pool->convert;
    struct pfd_id_counts counts = { 0 };
    if (!pool->used)
        return;
    for (size_t i = 0; i < pfd_strings_count(convert->strings); i++)
        counts.known += pool->used[i];
    for (size_t i = 0; i < pool->tally.n; i++)
        counts.unknown += pool->tally.rows[i].kind == PFD_FINDING_unknown_id;
    counts.is_more = pool->tally.rest[PFD_FINDING_unknown_id].count;
    *convert->id_counts = counts;
}

/* What comes behind all entries. After an error other than that of a callback
 * there is nothing to say; a callback that stopped gets findings all the
 * same. */
static void give_end(struct pfd_pool *pool, const char *source)
{
    const struct pfd_sink *sink = pool->sink;
    struct pfd_text out = { 0 };
    if (pool->error.code != PFD_OK && pool->error.code != PFD_ERR_STOPPED)
        return;
    if (pool->n_hidden)
        sink->hidden(&out, pool->n_hidden, pool->sink_options.color);
    give_tally(pool, source, &out);
    if (sink && sink->summary)
        sink->summary(&out, &pool->summary, source);
    if (pool->error.code == PFD_OK)
        give(pool, &out);
    pfd_text_free(&out);
    count_ids(pool);
}

static bool start(struct pfd_pool *pool, struct pfd_worker **workers,
                  unsigned n)
{
    const struct pfd_convert *convert = pool->convert;
    pool->tally.max = IDS_TOLD;
    if (convert->id_counts) {
        pool->used = calloc(pfd_strings_count(convert->strings) + 1, 1);
        if (!pool->used)
            return false;
    }
    *workers = calloc(n, sizeof **workers);
    return *workers && worker_init(*workers, pool);
}

static enum pfd_status run(struct pfd_pool *pool, struct pfd_error *err)
{
    unsigned n = thread_count(pool->convert);
    struct pfd_worker *workers = NULL;
    const char *source = pool->convert->source ? pool->convert->source : "-";
    if (start(pool, &workers, n)) {
        run_workers(pool, workers, n);
        if (pool->error.code == PFD_OK && pool->walked < 0)
            pool->error = pool->walk_error;
    } else {
        pfd_fail(&pool->error, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    if (workers)
        worker_deinit(&workers[0]);
    free(workers);
    give_end(pool, source);
    pfd_tally_free(&pool->tally);
    free(pool->used);
    if (pool->error.code != PFD_OK && err)
        *err = pool->error;
    return pool->error.code;
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

/* By name, by the strings, or by the first bytes: of a stream, those of its
 * first window. */
static enum pfd_status choose(struct pfd_pool *pool, struct pfd_error *err)
{
    const struct pfd_convert *convert = pool->convert;
    struct pfd_walk *walk = &pool->walk;
    if (pool->chunks) {
        pool->format = pfd_chunks_format(pool);
        return PFD_OK;
    }
    enum pfd_status status = pfd_format_choose(
        convert->strings, convert->format, NULL, false, &pool->choice, err);
    if (status != PFD_OK)
        return status;
    if (!pool->choice.format) {
        if (pool->windows && !advance(pool)) {
            if (err)
                *err = pool->walk_error;
            return pool->walked;
        }
        /* A window holds more than what is looked at. */
        pfd_format_choose(convert->strings, NULL, &walk->view, walk->last,
                          &pool->choice, err);
    }
    pool->format = pool->choice.format;
    return PFD_OK;
}

static enum pfd_status convert_walk(const struct pfd_convert *convert,
                                    struct pfd_pool *pool,
                                    struct pfd_summary *summary,
                                    struct pfd_error *err)
{
    pool->convert = convert;
    if (convert->output && !(pool->sink = pfd_sink_find(convert->output))) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "no output is called '%s'", convert->output);
    }
    enum pfd_status status = choose(pool, err);
    if (status != PFD_OK)
        return status;
    pool->sink_options.color = convert->color;
    pool->sink_options.origin = convert->origin;
    pool->sink_options.marks = convert->marks;
    pool->sink_options.members = convert->members;
    pool->sink_options.origin_members = convert->origin_members;
    pool->reported = reported_kinds(convert);
    pool->hides = convert->few_unknown && pool->sink && pool->sink->hidden;
    pool->is_selective = convert->filter || convert->skip || convert->ranges ||
                         convert->given || convert->limit != UINT64_MAX;
    struct pfd_walk walk;
    if (!pfd_walk_init(&walk, pool->format, convert->strings,
                       &convert->options))
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
    pthread_mutex_init(&pool->walking, NULL);
    pthread_mutex_init(&pool->turn, NULL);
    pthread_cond_init(&pool->turned, NULL);
    atomic_init(&pool->stop, false);
    atomic_init(&pool->shows_no_more, false);
    status = run(pool, err);
    pthread_cond_destroy(&pool->turned);
    pthread_mutex_destroy(&pool->turn);
    pthread_mutex_destroy(&pool->walking);
    pfd_walk_deinit(&pool->walk);
    *summary = pool->summary;
    return status;
}

enum pfd_status pfd_convert_bytes(const struct pfd_convert *convert,
                                  const void *bytes, size_t n,
                                  struct pfd_summary *summary,
                                  struct pfd_error *err)
{
    struct pfd_pool pool = { .walk = { .view = pfd_cursor(bytes, n),
                                       .last = true } };
    return convert_walk(convert, &pool, summary, err);
}

enum pfd_status pfd_convert_stream(const struct pfd_convert *convert,
                                   pfd_read_fn read, void *read_user,
                                   struct pfd_summary *summary,
                                   struct pfd_error *err)
{
    struct pfd_windows windows = { .read = read, .user = read_user };
    struct pfd_pool pool = { .windows = &windows };
    enum pfd_status status = convert_walk(convert, &pool, summary, err);
    pfd_window_drop(windows.current);
    return status;
}

enum pfd_status pfd_convert_chunks(const struct pfd_convert *convert,
                                   const struct pfd_chunk_bytes *chunks,
                                   size_t n, struct pfd_summary *summary,
                                   struct pfd_error *err)
{
    struct pfd_pool_chunks all = { .all = chunks, .n = n };
    struct pfd_pool pool = { .chunks = &all };
    enum pfd_status status = convert_walk(convert, &pool, summary, err);
    pfd_chunk_close(&all.chunk);
    return status;
}
