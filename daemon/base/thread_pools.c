/* SPDX-License-Identifier: MIT */
#include "base/thread_pools.h"

#include "stream/live/walk_pool.h"

enum {
    PRINTERS_EACH = 4, /* for each sender, which copies faster than they
                          render */
};

/* *more: false after the last pool; NULL: it is not open. */
static struct pfdd_pool *nth(const struct pfdd_thread_pools *thread_pools,
                             size_t i, bool *more)
{
    enum {
        N_POOLS = 5
    };
    struct pfdd_pool *const all[N_POOLS] = {
        thread_pools->decoders, thread_pools->printers, thread_pools->choosers,
        thread_pools->disk, thread_pools->senders
    };
    *more = i < N_POOLS;
    return *more ? all[i] : NULL;
}

bool pfdd_thread_pools_open(struct pfdd_thread_pools *thread_pools,
                            uv_loop_t *loop, unsigned n_threads,
                            unsigned n_printers)
{
    thread_pools->decoders = pfdd_pool_new(loop, n_threads);
    thread_pools->printers = pfdd_pool_new(loop, n_printers);
    thread_pools->choosers = pfdd_pool_new(loop, n_threads);
    thread_pools->disk = pfdd_pool_new(loop, 1);
    if (n_printers >= PRINTERS_EACH)
        thread_pools->senders = pfdd_pool_new(loop, n_printers / PRINTERS_EACH);
    unsigned n_helpers = pfd_walk_pool_for(n_printers);
    if (n_helpers)
        (void)pfd_walk_pool_new(n_helpers, &thread_pools->walk_pool, NULL);
    return thread_pools->decoders && thread_pools->printers &&
           thread_pools->choosers && thread_pools->disk;
}

void pfdd_thread_pools_close(struct pfdd_thread_pools *thread_pools)
{
    bool more = true;
    for (size_t i = 0; more; i++)
        pfdd_pool_close(nth(thread_pools, i, &more));
    pfd_walk_pool_free(thread_pools->walk_pool);
    *thread_pools = (struct pfdd_thread_pools){ 0 };
}

bool pfdd_thread_pools_are_busy(const struct pfdd_thread_pools *thread_pools)
{
    bool more = true;
    bool busy = false;
    for (size_t i = 0; more; i++) {
        const struct pfdd_pool *pool = nth(thread_pools, i, &more);
        busy |= pool && pfdd_pool_pending(pool);
    }
    return busy;
}

uint64_t pfdd_thread_pools_stuck(const struct pfdd_thread_pools *thread_pools,
                                 uint64_t now)
{
    bool more = true;
    uint64_t longest = 0;
    for (size_t i = 0; more; i++) {
        const struct pfdd_pool *pool = nth(thread_pools, i, &more);
        uint64_t ms = pool ? pfdd_pool_stuck(pool, now) : 0;
        longest = ms > longest ? ms : longest;
    }
    return longest;
}
