/* SPDX-License-Identifier: MIT */
/* The daemon's memory, part by part (pfdd_memory() of daemon.h). */
#include "daemon.h"
#include "ingest/follower_memory.h"
#include "ingest/string_store.h"
#include "spool/spool.h"

enum {
    READERS = 32, /* memory_max / READERS: for readers */
    LISTED = 6,   /* of these / LISTED: for series of a page of metrics */
    READERS_MIN = 512 << 10,
    READERS_MAX = 64 << 20,
};

size_t pfdd_memory(const struct pfdd *d, struct pfdd_memory *ret)
{
    size_t most = 0;
    *ret = (struct pfdd_memory){
        .ring = d->ring.n_held,
        .pages = d->render_cache.n_bytes,
        .inputs = d->budget.inputs,
        .frames = d->budget.frames,
        .sessions = d->budget.sessions + d->source_table.n_bytes,
        .helpers = pfd_thread_pool_memory(d->thread_pools.thread_pool, &most),
        .buffers = d->budget.buffers,
    };
    if (d->string_store)
        ret->strings = pfdd_string_store_memory(d->string_store);
    if (d->spool)
        ret->outputs = pfdd_spool_memory(d->spool);
    for (const struct pfdd_output *o = d->outputs; o; o = o->next)
        ret->outputs += o->class->memory(o);
    ret->outputs += d->render_cache.n_left;
    return ret->ring + ret->pages + ret->inputs + ret->frames + ret->buffers +
           ret->sessions + ret->helpers + ret->strings + ret->outputs;
}

/* Bytes that the thread pool may still take, once a read pass needs it. */
static size_t helpers_reserve(const struct pfdd *d)
{
    size_t most = 0;
    size_t n = pfd_thread_pool_memory(d->thread_pools.thread_pool, &most);
    return pfdd_follower_memory_is_ample(&d->budget) ? most - n : 0;
}

/* Bytes of other parts. *reserve has the ring's free space, because entries
 * come whether there is memory or not. */
static size_t others(const void *user, size_t *reserve)
{
    const struct pfdd *d = user;
    struct pfdd_memory m;
    pfdd_memory(d, &m);
    *reserve = pfdd_ring_most(&d->ring) - m.ring + helpers_reserve(d);
    if (d->render_cache.n_bytes_max > m.pages)
        *reserve += d->render_cache.n_bytes_max - m.pages;
    *reserve += d->reader_quotas.n_max - d->reader_quotas.n;
    *reserve += d->page_quotas.n_max - d->page_quotas.n;
    if (d->string_store)
        *reserve += pfdd_string_store_most(d->string_store);
    return m.ring + m.pages + m.helpers + m.strings + m.outputs +
           d->source_table.n_bytes;
}

static size_t for_all(const void *user)
{
    const struct pfdd *d = user;
    return pfdd_ring_most(&d->ring) + d->render_cache.n_bytes_max +
           d->reader_quotas.n_max + d->page_quotas.n_max;
}

void pfdd_memory_init(struct pfdd *d, size_t max)
{
    size_t share = max / READERS;
    d->reader_quotas.n_max = share < READERS_MIN   ? READERS_MIN
                             : share > READERS_MAX ? READERS_MAX
                                                   : share;
    d->page_quotas.n_max = d->reader_quotas.n_max;
    d->source_table.n_listed_max = d->page_quotas.n_max / LISTED;
    d->budget.max = max;
    d->budget.others = others;
    d->budget.for_all = for_all;
    d->budget.user = d;
}

bool pfdd_is_backlogged(struct pfdd *d)
{
    /* Jobs in flight, one finished job, and the caller's. */
    size_t n_coming =
        (pfdd_pool_pending(d->thread_pools.decoders) + 2) * d->batch;
    bool busy = pfdd_ring_is_busy(&d->ring, n_coming);
    d->count.waits += busy;
    return busy;
}
