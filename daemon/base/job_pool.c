/* SPDX-License-Identifier: MIT */
#include "base/job_pool.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct fifo {
    struct pfdd_job *first;
    struct pfdd_job **end;
};

struct pfdd_pool {
    uv_mutex_t lock;
    uv_cond_t wake;
    uv_cond_t go_on;
    uv_async_t async;
    struct fifo queued;
    struct fifo finished;
    unsigned n_pending; /* loop thread only */
    unsigned n_handing; /* likewise, of these: until pfdd_pool_taken() */
    uint64_t moved;     /* likewise: ns, of the last progress or first job */
    unsigned n_threads;
    bool stop;
    uv_thread_t threads[];
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

static struct pfdd_job *fifo_take(struct fifo *f)
{
    struct pfdd_job *job = f->first;
    f->first = job->next;
    if (!f->first)
        f->end = &f->first;
    return job;
}

/* The caller has the pool's lock. */
static void await_taken(const struct pfdd_job *job)
{
    struct pfdd_pool *pool = job->pool;
    while (job->is_handing)
        uv_cond_wait(&pool->go_on, &pool->lock);
}

static void work(void *user)
{
    struct pfdd_pool *pool = user;
    uv_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->queued.first && !pool->stop)
            uv_cond_wait(&pool->wake, &pool->lock);
        if (!pool->queued.first)
            break;
        struct pfdd_job *job = fifo_take(&pool->queued);
        uv_mutex_unlock(&pool->lock);
        job->run(job);
        uv_mutex_lock(&pool->lock);
        await_taken(job);
        fifo_put(&pool->finished, job);
        uv_async_send(&pool->async);
    }
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

/* The threads block all signals, which are the loop's. */
static unsigned start_threads(struct pfdd_pool *pool, unsigned n)
{
    sigset_t all;
    sigset_t before;
    unsigned i = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (i < n && uv_thread_create(&pool->threads[i], work, pool) == 0)
        i++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return i;
}

struct pfdd_pool *pfdd_pool_new(uv_loop_t *loop, unsigned n_threads)
{
    struct pfdd_pool *pool =
        calloc(1, sizeof *pool + n_threads * sizeof(uv_thread_t));
    if (!pool)
        return NULL;
    if (uv_async_init(loop, &pool->async, finish) != 0) {
        free(pool);
        return NULL;
    }
    pool->async.data = pool;
    uv_mutex_init(&pool->lock);
    uv_cond_init(&pool->wake);
    uv_cond_init(&pool->go_on);
    fifo_init(&pool->queued);
    fifo_init(&pool->finished);
    pool->n_threads = start_threads(pool, n_threads);
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
    uv_mutex_lock(&pool->lock);
    fifo_put(&pool->queued, job);
    uv_cond_signal(&pool->wake);
    uv_mutex_unlock(&pool->lock);
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
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
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
    uv_mutex_lock(&pool->lock);
    pool->stop = true;
    uv_cond_broadcast(&pool->wake);
    uv_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_threads; i++)
        uv_thread_join(&pool->threads[i]);
    uv_mutex_destroy(&pool->lock);
    uv_cond_destroy(&pool->wake);
    uv_cond_destroy(&pool->go_on);
    uv_close((uv_handle_t *)&pool->async, free_pool);
}
