/* SPDX-License-Identifier: MIT */
#include "base/job_pool.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/clock.h"

struct fifo {
    struct pfdd_job *first;
    struct pfdd_job **end;
};

struct pfdd_pool {
    struct pfd_thread_pool *threads;
    size_t n_threads;
    uv_async_t async;
    uv_mutex_t lock; /* guards `finished` and whether jobs are handing */
    uv_cond_t go_on;
    struct fifo finished;
    unsigned n_pending; /* loop thread only */
    unsigned n_handing; /* likewise, of these: until pfdd_pool_taken() */
    uint64_t moved;     /* likewise: ns, of the last progress or first job */
};

static void fifo_put(struct fifo *f, struct pfdd_job *job)
{
    job->next = NULL;
    *f->end = job;
    f->end = &job->next;
}

static void fifo_init(struct fifo *f)
{
    f->first = NULL;
    f->end = &f->first;
}

/* The caller has the pool's lock. */
static void await_taken(const struct pfdd_job *job)
{
    struct pfdd_pool *pool = job->pool;
    while (job->is_handing)
        uv_cond_wait(&pool->go_on, &pool->lock);
}

static void run(struct pfd_pool_job *pool_job, size_t i)
{
    struct pfdd_job *job = PFDD_MEMBER_OF(struct pfdd_job, pool_job, pool_job);
    struct pfdd_pool *pool = job->pool;
    (void)i;
    job->run(job);
    uv_mutex_lock(&pool->lock);
    await_taken(job);
    fifo_put(&pool->finished, job);
    uv_async_send(&pool->async);
    uv_mutex_unlock(&pool->lock);
}

static void finish(uv_async_t *async)
{
    struct pfdd_pool *pool = async->data;
    uv_mutex_lock(&pool->lock);
    struct pfdd_job *job = pool->finished.first;
    fifo_init(&pool->finished);
    uv_mutex_unlock(&pool->lock);
    while (job) {
        struct pfdd_job *next = job->next;
        pool->moved = uv_hrtime();
        if (job->is_handing) {
            pool->n_handing++;
            job->half(job);
        } else {
            pool->n_pending--;
            job->done(job);
        }
        job = next;
    }
}

static void free_pool(uv_handle_t *handle)
{
    free(handle->data);
}

struct pfdd_pool *pfdd_pool_new(uv_loop_t *loop, unsigned n_threads)
{
    struct pfdd_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    if (uv_async_init(loop, &pool->async, finish) != 0) {
        free(pool);
        return NULL;
    }
    pool->async.data = pool;
    uv_mutex_init(&pool->lock);
    uv_cond_init(&pool->go_on);
    fifo_init(&pool->finished);
    pool->threads = pfd_thread_pool_new(n_threads);
    if (pool->threads)
        pool->n_threads = pfd_thread_pool_start(pool->threads);
    if (pool->n_threads == 0) {
        pfdd_pool_close(pool);
        return NULL;
    }
    return pool;
}

void pfdd_pool_submit(struct pfdd_pool *pool, struct pfdd_job *job)
{
    if (pool->n_pending++ == pool->n_handing)
        pool->moved = uv_hrtime();
    job->pool = pool;
    job->is_handing = false;
    job->pool_job = (struct pfd_pool_job){ .run = run, .n = 1 };
    pfd_thread_pool_submit(pool->threads, &job->pool_job);
}

void pfdd_pool_await(struct pfdd_job *job)
{
    struct pfdd_pool *pool = job->pool;
    uv_mutex_lock(&pool->lock);
    await_taken(job);
    uv_mutex_unlock(&pool->lock);
}

void pfdd_pool_hand(struct pfdd_job *job)
{
    struct pfdd_pool *pool = job->pool;
    uv_mutex_lock(&pool->lock);
    assert(!job->is_handing);
    job->is_handing = true;
    fifo_put(&pool->finished, job);
    uv_async_send(&pool->async);
    uv_mutex_unlock(&pool->lock);
}

void pfdd_pool_taken(struct pfdd_job *job)
{
    struct pfdd_pool *pool = job->pool;
    pool->n_handing--;
    pool->moved = uv_hrtime();
    uv_mutex_lock(&pool->lock);
    job->is_handing = false;
    uv_cond_broadcast(&pool->go_on);
    uv_mutex_unlock(&pool->lock);
}

uint64_t pfdd_job_cpu_ns(void)
{
    return pfd_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t pfdd_pool_stuck(const struct pfdd_pool *pool, uint64_t now)
{
    bool waits =
        pool->n_pending > pool->n_handing && pool->n_handing < pool->n_threads;
    return waits && now > pool->moved ? (now - pool->moved) / 1000000 : 0;
}

unsigned pfdd_pool_pending(const struct pfdd_pool *pool)
{
    return pool->n_pending;
}

void pfdd_pool_close(struct pfdd_pool *pool)
{
    if (!pool)
        return;
    assert(pool->n_pending == 0);
    pfd_thread_pool_free(pool->threads);
    uv_mutex_destroy(&pool->lock);
    uv_cond_destroy(&pool->go_on);
    uv_close((uv_handle_t *)&pool->async, free_pool);
}
