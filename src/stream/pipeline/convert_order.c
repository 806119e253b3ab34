/* SPDX-License-Identifier: MIT */
/*
 * Turns: the workers' products are written in the order of the walk, by one
 * worker at a time. A worker whose turn has not come leaves its product in a
 * slot and goes on with the next batch. The worker that writes goes on to the
 * slots that are next, so that no worker has to wake up between two batches. If
 * writing is the bottleneck, all slots fill, and workers sleep until theirs is
 * free: no more of them work than the reader of the output keeps up with.
 */
#include <stdlib.h>

#include "core/decode/inspect.h"
#include "stream/capture/chunk.h"
#include "stream/pipeline/convert_pool.h"

/* With the lock. */
static void stop(struct pfd_pool *pool)
{
    atomic_store(&pool->stop, true);
    for (size_t i = 0; i < PFD_POOL_THREADS; i++)
        pthread_cond_broadcast(&pool->order.turned[i]);
}

void pfd_pool_fail(struct pfd_pool *pool, enum pfd_status status,
                   const char *text)
{
    pthread_mutex_lock(&pool->order.turn);
    if (pool->order.error.code == PFD_OK)
        pfd_fail(&pool->order.error, status, PFD_NO_OFFSET, "%s", text);
    stop(pool);
    pthread_mutex_unlock(&pool->order.turn);
}

/* ---- products ---- */

bool pfd_product_init(struct pfd_product *made,
                      const struct pfd_convert *convert)
{
    *made = (struct pfd_product){ 0 };
    return !convert->write_chunk ||
           pfd_chunk_writer_new(&made->chunk, NULL) == PFD_OK;
}

void pfd_product_deinit(struct pfd_product *made)
{
    pfd_finding_counts_free(&made->finding_counts);
    pfd_unsure_free(&made->unsure);
    pfd_text_free(&made->out);
    pfd_text_free(&made->sentences);
    pfd_text_free(&made->given);
    pfd_chunk_writer_free(made->chunk);
    free(made->kept);
}

bool pfd_slots_init(struct pfd_pool *pool, size_t n)
{
    pool->order.slots = calloc(n, sizeof *pool->order.slots);
    if (!pool->order.slots)
        return false;
    bool ok = true;
    for (; ok && pool->order.n_slots < n; pool->order.n_slots++) {
        ok = pfd_product_init(&pool->order.slots[pool->order.n_slots],
                              pool->convert);
    }
    return ok;
}

void pfd_slots_deinit(struct pfd_pool *pool)
{
    for (size_t i = 0; i < pool->order.n_slots; i++)
        pfd_product_deinit(&pool->order.slots[i]);
    free(pool->order.slots);
}

/* ---- writing ---- */

/* Hands over the findings of a product; only in its batch's turn. */
static void hand_over(const struct pfd_pool *pool, struct pfd_product *made)
{
    const struct pfd_convert *convert = pool->convert;
    if (made->sentences.failed)
        return; /* out of memory: the run fails, with the findings so far */
    for (size_t i = 0; i < made->n_kept && convert->finding; i++) {
        const struct pfd_stored_finding *kept = &made->kept[i];
        struct pfd_finding finding = {
            .kind = kept->kind,
            .offset = kept->offset,
            .index = kept->index,
            .in_buffer = true,
            .source = convert->source ? convert->source : "-",
            .text = made->sentences.data + kept->text,
        };
        convert->finding(convert->finding_user, &finding);
    }
    made->n_kept = 0;
    made->sentences.n = 0;
}

/* False: no more is wanted. */
static bool take_bytes(const struct pfd_convert *convert,
                       const struct pfd_text *out)
{
    const struct pfd_consumer *consumer = convert->consumer;
    if (consumer)
        return consumer->take(consumer->user, out->data, out->n);
    return !convert->write ||
           convert->write(convert->write_user, out->data, out->n);
}

void pfd_pool_give(struct pfd_pool *pool, const struct pfd_text *out)
{
    const struct pfd_convert *convert = pool->convert;
    if (out->failed) {
        pfd_pool_fail(pool, PFD_ERR_NOMEM, "out of memory");
    } else if (out->n && !take_bytes(convert, out)) {
        pfd_pool_fail(pool, PFD_ERR_STOPPED, "writing was stopped");
    }
}

static void give_chunk(struct pfd_pool *pool, struct pfd_chunk_writer *writer)
{
    const struct pfd_convert *convert = pool->convert;
    size_t n = pfd_chunk_size(writer);
    const void *bytes = n ? pfd_chunk_finish(writer, &n) : NULL;
    if (!bytes && n) {
        pfd_pool_fail(pool, PFD_ERR_NOMEM, "out of memory");
    } else if (bytes && !convert->write_chunk(convert->write_user, bytes, n,
                                              pfd_chunk_item_count(bytes, n))) {
        pfd_pool_fail(pool, PFD_ERR_STOPPED, "writing was stopped");
    }
}

/* Writes a product, in its batch's turn, without the lock. */
static void write_made(struct pfd_pool *pool, struct pfd_product *made,
                       void *consumer)
{
    const struct pfd_convert *convert = pool->convert;
    if (!atomic_load(&pool->stop)) {
        hand_over(pool, made);
        pool->order.n_hidden += pfd_unknown_limit_cut(
            &pool->order.unknown_limit, &made->unsure, &made->out);
        atomic_store(&pool->shows_no_more,
                     pool->order.unknown_limit.n == PFD_UNKNOWN_LIMIT_MAX);
        pfd_pool_give(pool, &made->out);
        if (consumer)
            pool->sink->worker->turn(consumer);
        if (made->given.n) {
            convert->emitted(convert->given_user,
                             (const void *)made->given.data,
                             made->given.n / sizeof(uint64_t));
        }
        if (made->chunk)
            give_chunk(pool, made->chunk);
    }
    made->out.n = 0;
    made->given.n = 0;
}

/* With the lock, which is released meanwhile. */
static void tell_progress(struct pfd_pool *pool)
{
    const struct pfd_convert *convert = pool->convert;
    struct pfd_summary so_far = pool->order.summary;
    pthread_mutex_unlock(&pool->order.turn);
    if (!convert->progress(convert->progress_user, &so_far))
        pfd_pool_fail(pool, PFD_ERR_STOPPED, "stopped");
    pthread_mutex_lock(&pool->order.turn);
}

/* With the lock, which is released meanwhile: ends a batch in its turn. */
static void end_batch(struct pfd_pool *pool, struct pfd_product *made,
                      void *consumer)
{
    pthread_mutex_unlock(&pool->order.turn);
    write_made(pool, made, consumer);
    pthread_mutex_lock(&pool->order.turn);
    bool stopped = atomic_load(&pool->stop);
    if (!stopped) {
        pfd_summary_add(&pool->order.summary, &made->summary);
        pfd_finding_counts_merge(&pool->order.finding_counts,
                                 &made->finding_counts);
        pool->order.n_hidden += made->unsure.n_hidden;
    }
    if (!stopped && pool->convert->progress)
        tell_progress(pool);
    if (made->ended)
        stop(pool);
    pool->order.n_written++;
}

/* ---- turns ---- */

static bool is_next(const struct pfd_worker *w)
{
    const struct pfd_pool *pool = w->pool;
    return pool->order.n_written == w->number && !pool->order.is_writing;
}

static bool has_slot(const struct pfd_worker *w)
{
    const struct pfd_pool *pool = w->pool;
    return !w->consumer &&
           w->number - pool->order.n_written < pool->order.n_slots;
}

/* With the lock: waits until all batches before this one are written or, if
 * slot_will_do, until there is a slot for it. True: it is this worker's
 * turn. */
static bool await_turn(struct pfd_worker *w, bool slot_will_do)
{
    struct pfd_pool *pool = w->pool;
    pthread_cond_t *turned = &pool->order.turned[w->number % PFD_POOL_THREADS];
    while (!w->in_turn && !is_next(w) && !(slot_will_do && has_slot(w)) &&
           !atomic_load(&pool->stop))
        pthread_cond_wait(turned, &pool->order.turn);
    if (!w->in_turn && !is_next(w) && !atomic_load(&pool->stop))
        return false;
    if (!w->in_turn && is_next(w))
        pool->order.is_writing = true;
    w->in_turn = true;
    return true;
}

void pfd_worker_write(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    pthread_mutex_lock(&pool->order.turn);
    await_turn(w, false);
    pthread_mutex_unlock(&pool->order.turn);
    write_made(pool, &w->made, w->consumer);
}

/* With the lock: ends the batches in slots whose turn has come, too. */
static void write_slots(struct pfd_pool *pool)
{
    while (pool->order.n_slots) {
        struct pfd_product *made =
            &pool->order.slots[pool->order.n_written % pool->order.n_slots];
        if (!made->is_ready)
            break;
        made->is_ready = false;
        end_batch(pool, made, NULL);
        /* This batch has a slot now, if it was waiting for one. */
        uint64_t next = pool->order.n_written + pool->order.n_slots - 1;
        pthread_cond_broadcast(&pool->order.turned[next % PFD_POOL_THREADS]);
    }
}

void pfd_worker_end_turn(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    pthread_mutex_lock(&pool->order.turn);
    if (!await_turn(w, true)) {
        struct pfd_product *slot =
            &pool->order.slots[w->number % pool->order.n_slots];
        struct pfd_product empty = *slot;
        *slot = w->made;
        slot->is_ready = true;
        w->made = empty;
    } else if (!atomic_load(&pool->stop)) {
        end_batch(pool, &w->made, w->consumer);
        write_slots(pool);
        pool->order.is_writing = false;
        pthread_cond_broadcast(
            &pool->order.turned[pool->order.n_written % PFD_POOL_THREADS]);
    }
    pthread_mutex_unlock(&pool->order.turn);
    w->in_turn = false;
}
