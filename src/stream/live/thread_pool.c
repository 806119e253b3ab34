/* SPDX-License-Identifier: MIT */
/*
 * Work is cut into slices, which the threads and the caller take in turn: a
 * caller never waits for a thread that has not woken.
 */
#include "stream/live/thread_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/thread.h"

enum {
    THREADS_MAX = 16,
    THREADS_DEFAULT = 3,
    PROCESSORS_EACH = 4,
};

struct pfd_thread_pool {
    pthread_t threads[THREADS_MAX]; /* [n_threads] */
    size_t n_wanted;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t come;  /* a slice may be taken */
    pthread_cond_t done;  /* all are done */
    size_t n_threads;
    bool is_over;
    bool is_held; /* by the caller of this work: */
    void (*piece)(void *user, size_t i);
    void *user;
    size_t n; /* slices */
    size_t n_taken;
    size_t n_in_work;
    struct pfd_walk_slices *walk_slices; /* for the holder; NULL: none yet */
};

/* With the lock, which is released meanwhile. */
static void do_piece(struct pfd_thread_pool *h)
{
    size_t i = h->n_taken++;
    h->n_in_work++;
    pthread_mutex_unlock(&h->lock);
    h->piece(h->user, i);
    pthread_mutex_lock(&h->lock);
    h->n_in_work--;
    if (!h->n_in_work && h->n_taken == h->n)
        pthread_cond_signal(&h->done);
}

static void *work(void *arg)
{
    struct pfd_thread_pool *h = arg;
    pthread_mutex_lock(&h->lock);
    while (!h->is_over) {
        if (h->n_taken < h->n) {
            do_piece(h);
        } else {
            pthread_cond_wait(&h->come, &h->lock);
        }
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

/* With the lock. Does without threads that cannot be started. */
static void start_threads(struct pfd_thread_pool *h)
{
    while (h->n_threads < h->n_wanted &&
           pfd_thread_start(&h->threads[h->n_threads], work, h))
        h->n_threads++;
    h->n_wanted = h->n_threads;
}

unsigned pfd_thread_pool_for(unsigned processors)
{
    unsigned n = processors / PROCESSORS_EACH;
    return n < THREADS_DEFAULT ? n : THREADS_DEFAULT;
}

enum pfd_status pfd_thread_pool_new(unsigned threads,
                                    struct pfd_thread_pool **ret,
                                    struct pfd_error *err)
{
    struct pfd_thread_pool *h = calloc(1, sizeof *h);
    if (!h)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    h->n_wanted =
        threads ? threads : pfd_thread_pool_for(pfd_processor_count());
    if (h->n_wanted > THREADS_MAX)
        h->n_wanted = THREADS_MAX;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->come, NULL);
    pthread_cond_init(&h->done, NULL);
    *ret = h;
    return PFD_OK;
}

void pfd_thread_pool_free(struct pfd_thread_pool *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->is_over = true;
    pthread_cond_broadcast(&h->come);
    pthread_mutex_unlock(&h->lock);
    for (size_t i = 0; i < h->n_threads; i++)
        pthread_join(h->threads[i], NULL);
    pthread_cond_destroy(&h->come);
    pthread_cond_destroy(&h->done);
    pthread_mutex_destroy(&h->lock);
    pfd_walk_slices_free(h->walk_slices);
    free(h);
}

bool pfd_thread_pool_hold(struct pfd_thread_pool *h)
{
    if (!h)
        return false;
    pthread_mutex_lock(&h->lock);
    bool ret = !h->is_held && h->n_wanted;
    h->is_held |= ret;
    pthread_mutex_unlock(&h->lock);
    return ret;
}

void pfd_thread_pool_let_go(struct pfd_thread_pool *h)
{
    pthread_mutex_lock(&h->lock);
    h->is_held = false;
    pthread_mutex_unlock(&h->lock);
}

struct pfd_walk_slices *pfd_thread_pool_slices(struct pfd_thread_pool *h)
{
    if (h->walk_slices)
        return h->walk_slices;
    struct pfd_walk_slices *walk_slices = pfd_walk_slices_new();
    pthread_mutex_lock(&h->lock);
    h->walk_slices = walk_slices;
    pthread_mutex_unlock(&h->lock);
    return walk_slices;
}

size_t pfd_thread_pool_memory(struct pfd_thread_pool *h, size_t *most)
{
    *most = h ? sizeof *h + PFD_WALK_SLICES_BYTES : 0;
    if (!h)
        return 0;
    pthread_mutex_lock(&h->lock);
    bool has_all = h->walk_slices;
    pthread_mutex_unlock(&h->lock);
    return has_all ? *most : sizeof *h;
}

void pfd_thread_pool_share(struct pfd_thread_pool *h, size_t n,
                           void (*piece)(void *user, size_t i), void *user)
{
    pthread_mutex_lock(&h->lock);
    h->piece = piece;
    h->user = user;
    h->n = n;
    h->n_taken = 0;
    start_threads(h);
    pthread_cond_broadcast(&h->come);
    while (h->n_taken < h->n)
        do_piece(h);
    while (h->n_in_work)
        pthread_cond_wait(&h->done, &h->lock);
    pthread_mutex_unlock(&h->lock);
}
