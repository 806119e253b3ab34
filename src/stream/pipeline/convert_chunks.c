/* SPDX-License-Identifier: MIT */
/* Fills batches from chunks, instead of walking over a buffer. */
#include <string.h>

#include "core/decode/inspect.h"
#include "stream/pipeline/convert_pool.h"

static enum pfd_status open_chunk(const struct pfd_pool *pool, size_t i,
                                  struct pfd_chunk *chunk,
                                  struct pfd_error *err)
{
    const struct pfd_chunk_bytes *bytes = &pool->chunks->all[i];
    return pfd_chunk_open(chunk, pool->convert->strings, pool->convert->options,
                          bytes->bytes, bytes->n, err);
}

const struct pfd_format *pfd_chunks_format(const struct pfd_pool *pool)
{
    struct pfd_chunk chunk = { 0 };
    const struct pfd_format *format = NULL;
    for (size_t i = 0; i < pool->chunks->n && !format; i++) {
        if (open_chunk(pool, i, &chunk, NULL) == PFD_OK)
            format = chunk.format;
    }
    pfd_chunk_close(&chunk);
    return format ? format : pfd_formats[0];
}

static void report(struct pfd_worker *w, const char *text)
{
    struct pfd_walk walk = { .batch = &w->batch };
    pfd_walk_finding(&walk, PFD_FINDING_bad_frame, PFD_NO_OFFSET, "%s", text);
}

/* Opens the next chunk. False: it cannot be read, and a finding is in the
 * batch. */
static bool open_next(struct pfd_pool *pool, struct pfd_worker *w)
{
    struct pfd_pool_chunks *c = pool->chunks;
    struct pfd_error err = { 0 };
    enum pfd_status status = open_chunk(pool, c->next++, &c->chunk, &err);
    if (status == PFD_ERR_NOMEM) {
        w->failed = true;
    } else if (status != PFD_OK) {
        report(w, err.text);
    } else if (c->chunk.format && c->chunk.format != pool->format) {
        report(w, "a chunk has entries of another format than those before "
                  "it: it is left out");
    } else {
        w->batch.lost_bytes = c->chunk.lost_bytes;
        w->batch.skipped_bytes = c->chunk.skipped_bytes;
        c->n_items = 0;
        c->is_open = true;
    }
    return c->is_open;
}

static void take_records(struct pfd_pool *pool, struct pfd_worker *w)
{
    struct pfd_error err = { 0 };
    struct pfd_pool_chunks *c = pool->chunks;
    w->numbered = w->batch.n;
    w->sequence = c->all[c->next - 1].sequence + c->n_items;
    enum pfd_status status = pfd_chunk_fill(&c->chunk, &w->batch, &err);
    for (size_t i = w->numbered; i < w->batch.n; i++) {
        const struct pfd_record *r = &w->batch.records[i];
        c->n_items += r->kind != PFD_RECORD_ALTERNATIVE;
        w->n_entries += r->kind == PFD_RECORD_ENTRY;
    }
    if (status == PFD_ERR_CORRUPT)
        report(w, err.text);
    w->failed |= status == PFD_ERR_NOMEM;
    pool->chunks->is_open = status == PFD_OK;
}

static void set_members(struct pfd_pool *pool, struct pfd_worker *w)
{
    const struct pfd_convert *convert = pool->convert;
    const struct pfd_pool_chunks *c = pool->chunks;
    w->sink_options.time = c->next ? c->all[c->next - 1].time : 0;
    struct pfd_filter_facts facts = { 0 };
    if (convert->facts)
        facts = *convert->facts;
    facts.time_unix_ns = w->sink_options.time;
    if (w->filter)
        pfd_filter_run_set(w->filter, &facts);
    for (size_t i = 0; i < PFD_WATCHES; i++) {
        if (w->watch.runs[i])
            pfd_filter_run_set(w->watch.runs[i], &facts);
    }
    if (!convert->chunk_members)
        return;
    const char *members =
        convert->chunk_members(convert->chunk_user, pool->chunks->next - 1);
    w->members.n = 0;
    if (members)
        pfd_text_add(&w->members, members, strlen(members) + 1);
    pfd_sink_set_members(&w->sink_options, members ? w->members.data : NULL);
    w->failed |= w->members.failed;
}

/* Counts the losses of a chunk even if it has no records. */
static void count_loss(struct pfd_pool *pool, struct pfd_record_batch *batch)
{
    struct pfd_summary sum = { .lost_bytes = batch->lost_bytes,
                               .skipped_bytes = batch->skipped_bytes };
    pthread_mutex_lock(&pool->order.lock);
    pfd_summary_add(&pool->order.summary, &sum);
    pthread_mutex_unlock(&pool->order.lock);
    batch->lost_bytes = batch->skipped_bytes = 0;
}

void pfd_pool_fill_chunks(struct pfd_pool *pool, struct pfd_worker *w)
{
    struct pfd_pool_chunks *c = pool->chunks;
    w->n_entries = 0;
    while (!w->batch.n && !w->failed) {
        if (!c->is_open && c->next == c->n) {
            pool->walked = PFD_END;
            return;
        }
        if (c->is_open || open_next(pool, w))
            take_records(pool, w);
        if (!w->batch.n)
            count_loss(pool, &w->batch);
    }
    set_members(pool, w);
}
