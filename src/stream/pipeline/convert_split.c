/* SPDX-License-Identifier: MIT */
/*
 * A walk by several workers at once. The buffer is cut into slices; each worker
 * claims the next one, looks in it for the first entry beyond doubt, and walks
 * from there to the slice's end. Then the slices are joined in order. If the
 * walk so far ends exactly where the next one began, its records are the same
 * as one walk's, since between two entries a walk depends on nothing before. If
 * it ends elsewhere, the claims are void, and the next slice is walked from
 * there.
 */
#include <string.h>

#include "stream/pipeline/convert_pool.h"

enum {
    /* Bytes of a slice: its smallest entries fit a batch. */
    STRETCH = 64 * 1024,
    STRETCHES_MIN = 16,
    BEHIND = 8 * 1024, /* bytes, of the entry in which a slice ends */
    ALONE_MAX = 6,     /* log2 of slices */
    TRUST = 64,        /* slices that joined, for one that did not */
    SPINS = 256,       /* some microseconds, */
    SPINS_MAX = 4,     /* at most so many times */
};

/* Lets the processor's other thread work. */
static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static uint64_t start_of(uint64_t stretch)
{
    return stretch * STRETCH;
}

static uint64_t stretch_of(uint64_t at)
{
    return at / STRETCH;
}

bool pfd_split_can(const struct pfd_pool *pool)
{
    const struct pfd_walk *walk = &pool->walk;
    return pool->format->split && !pool->windows && !pool->chunks &&
           walk->last && pool->walked == PFD_OK && pool->n_batches &&
           pfd_walk_end(walk) - walk->at >= start_of(STRETCHES_MIN);
}

void pfd_split_begin(struct pfd_pool *pool, bool spins)
{
    struct pfd_split *split = &pool->split;
    split->is_on = true;
    split->spins = spins;
    split->front = stretch_of(pool->walk.at);
    split->next = split->front;
}

/* Wakes all workers that wait, to check again. */
static void wake_all(struct pfd_pool *pool)
{
    atomic_fetch_add(&pool->split.n_news, 1);
    for (size_t i = 0; i < PFD_POOL_THREADS; i++)
        pthread_cond_signal(&pool->joined[i]);
    pthread_cond_broadcast(&pool->idle);
}

/* Voids claims: the walk goes on from where it is. */
static void start_over(struct pfd_pool *pool)
{
    struct pfd_split *split = &pool->split;
    wake_all(pool);
    split->front = stretch_of(pool->walk.at);
    split->next = split->front;
    split->epoch++;
}

/* Where slices do not join, walking ahead is wasted. */
static void distrust(struct pfd_split *split)
{
    split->alone = 1u << split->n_failed;
    if (split->n_failed < ALONE_MAX)
        split->n_failed++;
    split->n_joined = 0;
}

static void trust(struct pfd_split *split)
{
    if (split->alone)
        split->alone--;
    if (++split->n_joined % TRUST == 0 && split->n_failed)
        split->n_failed--;
}

/* Claims the next slice for this worker; true: the walk has reached it. */
static bool claim(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    struct pfd_split *split = &pool->split;
    bool is_front = split->next == split->front;
    w->claim.epoch = split->epoch;
    w->claim.claimed = split->next++;
    w->claim.walk = pool->walk;
    w->claim.walk.batch = &w->batch;
    w->claim.walk.until = start_of(w->claim.claimed + 1);
    if (w->claim.walk.until >= pfd_walk_end(&w->claim.walk))
        w->claim.walk.until = 0;
    w->claim.walk.state =
        memcpy(w->claim.state, pool->walk.state, pool->format->state_size);
    return is_front;
}

/* Finds where the walk over the claimed slice begins; false: there is no such
 * entry. */
static bool begin_claimed(struct pfd_worker *w, bool is_front, uint64_t end)
{
    const struct pfd_pool *pool = w->pool;
    const uint64_t start = start_of(w->claim.claimed);
    bool is_part =
        pool->has_slice_copies &&
        pfd_slice_copy_read(w, &w->claim.walk,
                            is_front ? w->claim.walk.at : start, end + BEHIND);
    if (is_front || pool->format->split(&w->claim.walk, start, end))
        return true;
    if (!is_part)
        return false;
    pfd_slice_copy_leave(pool, &w->claim.walk);
    return pool->format->split(&w->claim.walk, start, end);
}

/* Walks over the claimed slice; false: no entry was found in it. */
static bool walk_claimed(struct pfd_worker *w, bool is_front)
{
    const struct pfd_pool *pool = w->pool;
    struct pfd_walk *walk = &w->claim.walk;
    uint64_t end = walk->until ? walk->until : pfd_walk_end(walk);
    pfd_record_batch_clear(&w->batch);
    if (!begin_claimed(w, is_front, end))
        return false;
    w->claim.begun = walk->at;
    w->claim.walked = pool->format->walk(walk);
    if (w->claim.walked == PFD_MORE && pool->has_slice_copies) {
        pfd_slice_copy_leave(pool, walk);
        w->claim.walked = pool->format->walk(walk);
    }
    pfd_walk_mark_missing(walk);
    w->n_entries = pfd_record_batch_entries(&w->batch);
    return true;
}

/* Joins the walk so far and this worker's walk; true: they fit. */
static bool join(struct pfd_worker *w, bool found)
{
    struct pfd_pool *pool = w->pool;
    struct pfd_split *split = &pool->split;
    if (!found || w->claim.begun != pool->walk.at) {
        distrust(split);
        start_over(pool);
        return false;
    }
    pool->walk.at = w->claim.walk.at;
    memcpy(pool->walk.state, w->claim.state, pool->format->state_size);
    if (w->claim.walked == PFD_END)
        pool->walked = PFD_END;
    bool is_whole = w->claim.walked == PFD_OK && w->claim.walk.until &&
                    w->claim.walk.at >= w->claim.walk.until &&
                    stretch_of(w->claim.walk.at) == w->claim.claimed + 1;
    if (is_whole) {
        split->front++;
        trust(split);
        atomic_fetch_add(&split->n_news, 1);
        pthread_cond_signal(&pool->joined[split->front % PFD_POOL_THREADS]);
        if (split->n_idle)
            pthread_cond_broadcast(&pool->idle);
    } else {
        distrust(split);
        start_over(pool);
    }
    return true;
}

/* With the lock, which is released meanwhile: waits busily, as the walk before
 * this one takes less time than going to sleep and being woken. */
static void spin(struct pfd_pool *pool)
{
    unsigned news = atomic_load(&pool->split.n_news);
    pthread_mutex_unlock(&pool->walking);
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&pool->split.n_news, memory_order_relaxed) !=
            news)
            break;
        relax();
    }
    pthread_mutex_lock(&pool->walking);
}

static bool is_joined(const struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    return pool->split.epoch != w->claim.epoch ||
           pool->split.front == w->claim.claimed || atomic_load(&pool->stop);
}

/* With the lock: waits until the worker's slice is next, or its claim void. */
static bool await_join(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    for (int i = 0; pool->split.spins && i < SPINS_MAX && !is_joined(w); i++)
        spin(pool);
    while (!is_joined(w)) {
        pthread_cond_wait(&pool->joined[w->claim.claimed % PFD_POOL_THREADS],
                          &pool->walking);
    }
    return pool->split.epoch == w->claim.epoch && !atomic_load(&pool->stop);
}

/* With the lock: may a worker claim a slice? */
static bool may_claim(const struct pfd_pool *pool)
{
    const struct pfd_split *split = &pool->split;
    return split->next == split->front ||
           (!split->alone && start_of(split->next) < pfd_walk_end(&pool->walk));
}

bool pfd_split_take(struct pfd_worker *w)
{
    struct pfd_pool *pool = w->pool;
    bool is_mine = false;
    while (!is_mine && pool->walked == PFD_OK && !atomic_load(&pool->stop)) {
        if (!may_claim(pool)) {
            pool->split.n_idle++;
            pthread_cond_wait(&pool->idle, &pool->walking);
            pool->split.n_idle--;
            continue;
        }
        bool is_front = claim(w);
        pthread_mutex_unlock(&pool->walking);
        bool found = walk_claimed(w, is_front);
        pthread_mutex_lock(&pool->walking);
        if (!await_join(w))
            continue;
        is_mine = join(w, found) && !pfd_record_batch_is_empty(&w->batch);
    }
    if (!is_mine || pool->walked != PFD_OK)
        wake_all(pool);
    return is_mine;
}
