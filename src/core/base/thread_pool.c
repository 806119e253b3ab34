/* SPDX-License-Identifier: MIT */
#include "core/base/thread_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/thread.h"

struct pfd_thread_pool {
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t come;  /* a piece may be taken */
    pthread_cond_t done;  /* a shared job is done */
    struct pfd_pool_job *first;
    bool is_over;
    size_t n_wanted;
    size_t n_threads;
    pthread_t threads[]; /* [n_threads] */
};

struct shared_job {
    struct pfd_pool_job job;
    void (*piece)(void *user, size_t i);
    void *user;
};

static void put_last(struct pfd_thread_pool *pool, struct pfd_pool_job *job)
{
    struct pfd_pool_job **at = &pool->first;
    while (*at)
        at = &(*at)->next;
    job->n_taken = 0;
    job->next = NULL;
    *at = job;
}

static void take_out(struct pfd_thread_pool *pool,
                     const struct pfd_pool_job *job)
{
    struct pfd_pool_job **at = &pool->first;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
}

/* With the lock, which is released meanwhile. The job of the last piece may be
 * gone after its run. */
static void run_piece(struct pfd_thread_pool *pool, struct pfd_pool_job *job)
{
    size_t *n_left = job->n_left;
    size_t i = job->n_taken++;
    if (job->n_taken == job->n)
        take_out(pool, job);
    pthread_mutex_unlock(&pool->lock);
    job->run(job, i);
    pthread_mutex_lock(&pool->lock);
    if (n_left && !--*n_left)
        pthread_cond_broadcast(&pool->done);
}

static void *work(void *arg)
{
    struct pfd_thread_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    while (pool->first || !pool->is_over) {
        if (pool->first) {
            run_piece(pool, pool->first);
        } else {
            pthread_cond_wait(&pool->come, &pool->lock);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* With the lock. Does without threads that cannot be started. */
static void start_threads(struct pfd_thread_pool *pool)
{
    while (pool->n_threads < pool->n_wanted &&
           pfd_thread_start(&pool->threads[pool->n_threads], work, pool))
        pool->n_threads++;
    pool->n_wanted = pool->n_threads;
}

struct pfd_thread_pool *pfd_thread_pool_new(size_t threads)
{
    struct pfd_thread_pool *pool =
        calloc(1, sizeof *pool + threads * sizeof *pool->threads);
    if (!pool)
        return NULL;
    pool->n_wanted = threads;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->come, NULL);
    pthread_cond_init(&pool->done, NULL);
    return pool;
}

void pfd_thread_pool_free(struct pfd_thread_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->is_over = true;
    pthread_cond_broadcast(&pool->come);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->n_threads; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->come);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

size_t pfd_thread_pool_start(struct pfd_thread_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    start_threads(pool);
    size_t n = pool->n_threads;
    pthread_mutex_unlock(&pool->lock);
    return n;
}

void pfd_thread_pool_submit(struct pfd_thread_pool *pool,
                            struct pfd_pool_job *job)
{
    pthread_mutex_lock(&pool->lock);
    job->n_left = NULL;
    put_last(pool, job);
    pthread_cond_signal(&pool->come);
    pthread_mutex_unlock(&pool->lock);
}

bool pfd_thread_pool_help(struct pfd_thread_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool ret = pool->first;
    if (ret)
        run_piece(pool, pool->first);
    pthread_mutex_unlock(&pool->lock);
    return ret;
}

static void run_shared(struct pfd_pool_job *job, size_t i)
{
    const struct shared_job *shared = (const void *)job;
    shared->piece(shared->user, i);
}

void pfd_thread_pool_share(struct pfd_thread_pool *pool, size_t n,
                           void (*piece)(void *user, size_t i), void *user)
{
    size_t n_left = n;
    struct shared_job shared = { { .run = run_shared, .n = n }, piece, user };
    shared.job.n_left = &n_left;
    for (size_t i = 0; !pool && i < n; i++)
        piece(user, i);
    if (!pool || !n)
        return;
    pthread_mutex_lock(&pool->lock);
    put_last(pool, &shared.job);
    start_threads(pool);
    pthread_cond_broadcast(&pool->come);
    while (shared.job.n_taken < n)
        run_piece(pool, &shared.job);
    while (n_left)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
