/* SPDX-License-Identifier: MIT */
/* Hands the workers' products on, in the order of the walk. */
#include <stdlib.h>

#include "core/decode/inspect.h"
#include "stream/capture/chunk.h"
#include "stream/pipeline/convert_pool.h"

static void stop(struct pfd_pool *pool)
{
    atomic_store(&pool->stop, true);
    pfd_ordered_output_stop(&pool->order.output);
}

void pfd_pool_fail(struct pfd_pool *pool, enum pfd_status status,
                   const char *text)
{
    pthread_mutex_lock(&pool->order.lock);
    if (pool->order.error.code == PFD_OK)
        pfd_fail(&pool->order.error, status, PFD_NO_OFFSET, "%s", text);
    pthread_mutex_unlock(&pool->order.lock);
    stop(pool);
}

/* ---- products ---- */

static void product_deinit(struct pfd_product *made)
{
    pfd_finding_counts_free(&made->finding_counts);
    pfd_unsure_free(&made->unsure);
    pfd_text_free(&made->out);
    pfd_text_free(&made->sentences);
    pfd_text_free(&made->given);
    pfd_chunk_writer_free(made->chunk);
    free(made->kept);
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

/* Writes a product, in its batch's turn. */
static void write_made(struct pfd_pool *pool, struct pfd_product *made)
{
    const struct pfd_convert *convert = pool->convert;
    if (!atomic_load(&pool->stop)) {
        hand_over(pool, made);
        pool->order.n_hidden += pfd_unknown_limit_cut(
            &pool->order.unknown_limit, &made->unsure, &made->out);
        atomic_store(&pool->shows_no_more,
                     pool->order.unknown_limit.n == PFD_UNKNOWN_LIMIT_MAX);
        pfd_pool_give(pool, &made->out);
        if (made->consumer)
            pool->sink->worker->turn(made->consumer);
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

/* Ends a batch in its turn. */
static void end_batch(void *user, void *product)
{
    struct pfd_pool *pool = user;
    const struct pfd_convert *convert = pool->convert;
    struct pfd_product *made = product;
    struct pfd_summary so_far = { 0 };
    write_made(pool, made);
    bool stopped = atomic_load(&pool->stop);
    if (!stopped) {
        pthread_mutex_lock(&pool->order.lock);
        pfd_summary_add(&pool->order.summary, &made->summary);
        so_far = pool->order.summary;
        pthread_mutex_unlock(&pool->order.lock);
        pfd_finding_counts_merge(&pool->order.finding_counts,
                                 &made->finding_counts);
        pool->order.n_hidden += made->unsure.n_hidden;
    }
    if (!stopped && convert->progress &&
        !convert->progress(convert->progress_user, &so_far))
        pfd_pool_fail(pool, PFD_ERR_STOPPED, "stopped");
    if (made->ended)
        stop(pool);
}

void pfd_worker_write(struct pfd_worker *w)
{
    pfd_ordered_output_await(&w->pool->order.output, w->number);
    w->made->consumer = w->consumer;
    write_made(w->pool, w->made);
}

void pfd_worker_end_turn(struct pfd_worker *w)
{
    w->made->consumer = w->consumer;
    w->made = pfd_ordered_output_put(&w->pool->order.output, w->number, w->made,
                                     !w->consumer);
}

/* ---- all products ---- */

bool pfd_order_init(struct pfd_pool *pool, size_t n)
{
    struct pfd_order *order = &pool->order;
    size_t n_slots = n > 1 ? n : 0;
    pthread_mutex_init(&order->lock, NULL);
    if (!pfd_ordered_output_init(&order->output, n_slots, end_batch, pool))
        return false;
    order->products = calloc(n + n_slots, sizeof *order->products);
    bool ok = order->products;
    for (; ok && order->n_products < n + n_slots; order->n_products++) {
        ok = !pool->convert->write_chunk ||
             pfd_chunk_writer_new(&order->products[order->n_products].chunk,
                                  NULL) == PFD_OK;
    }
    for (size_t i = 0; ok && i < n_slots; i++)
        order->output.slots[i].product = &order->products[n + i];
    return ok;
}

void pfd_order_deinit(struct pfd_pool *pool)
{
    struct pfd_order *order = &pool->order;
    for (size_t i = 0; i < order->n_products; i++)
        product_deinit(&order->products[i]);
    free(order->products);
    pfd_ordered_output_deinit(&order->output);
    pthread_mutex_destroy(&order->lock);
}
