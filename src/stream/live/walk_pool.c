/* SPDX-License-Identifier: MIT */
#include "stream/live/walk_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/thread.h"
#include "core/base/thread_pool.h"

enum {
    THREADS_MAX = 16,
    THREADS_DEFAULT = 3,
    PROCESSORS_EACH = 4,
};

struct pfd_walk_pool {
    struct pfd_thread_pool *threads; /* NULL: there are none */
    pthread_mutex_t lock;            /* guards these: */
    bool is_held;
    struct pfd_walk_slices *walk_slices; /* for the holder; NULL: none yet */
};

/* NULL is allowed. */
static void walk_slices_free(struct pfd_walk_slices *walk_slices)
{
    for (size_t i = 0; walk_slices && i < PFD_WALK_SLICES; i++) {
        pfd_record_batch_deinit(&walk_slices->at[i].batch);
        free(walk_slices->at[i].state);
    }
    free(walk_slices);
}

/* NULL: out of memory. They take PFD_WALK_SLICES_BYTES. */
static struct pfd_walk_slices *walk_slices_new(void)
{
    struct pfd_walk_slices *ret = calloc(1, sizeof *ret);
    bool ok = ret;
    for (size_t i = 0; ok && i < PFD_WALK_SLICES; i++)
        ok = pfd_record_batch_init(&ret->at[i].batch, PFD_WALK_SLICE_RECORDS);
    if (ok)
        return ret;
    walk_slices_free(ret);
    return NULL;
}

unsigned pfd_walk_pool_for(unsigned processors)
{
    unsigned n = processors / PROCESSORS_EACH;
    return n < THREADS_DEFAULT ? n : THREADS_DEFAULT;
}

enum pfd_status pfd_walk_pool_new(unsigned threads, struct pfd_walk_pool **ret,
                                  struct pfd_error *err)
{
    struct pfd_walk_pool *h = calloc(1, sizeof *h);
    size_t n = threads ? threads : pfd_walk_pool_for(pfd_processor_count());
    if (h && n)
        h->threads = pfd_thread_pool_new(n < THREADS_MAX ? n : THREADS_MAX);
    if (!h || (n && !h->threads)) {
        free(h);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    pthread_mutex_init(&h->lock, NULL);
    *ret = h;
    return PFD_OK;
}

void pfd_walk_pool_free(struct pfd_walk_pool *h)
{
    if (!h)
        return;
    pfd_thread_pool_free(h->threads);
    pthread_mutex_destroy(&h->lock);
    walk_slices_free(h->walk_slices);
    free(h);
}

bool pfd_walk_pool_hold(struct pfd_walk_pool *h)
{
    if (!h)
        return false;
    pthread_mutex_lock(&h->lock);
    bool ret = !h->is_held && h->threads;
    h->is_held |= ret;
    pthread_mutex_unlock(&h->lock);
    return ret;
}

void pfd_walk_pool_let_go(struct pfd_walk_pool *h)
{
    pthread_mutex_lock(&h->lock);
    h->is_held = false;
    pthread_mutex_unlock(&h->lock);
}

struct pfd_walk_slices *pfd_walk_pool_slices(struct pfd_walk_pool *h)
{
    if (h->walk_slices)
        return h->walk_slices;
    struct pfd_walk_slices *walk_slices = walk_slices_new();
    pthread_mutex_lock(&h->lock);
    h->walk_slices = walk_slices;
    pthread_mutex_unlock(&h->lock);
    return walk_slices;
}

size_t pfd_walk_pool_memory(struct pfd_walk_pool *h, size_t *most)
{
    *most = h ? sizeof *h + PFD_WALK_SLICES_BYTES : 0;
    if (!h)
        return 0;
    pthread_mutex_lock(&h->lock);
    bool has_all = h->walk_slices;
    pthread_mutex_unlock(&h->lock);
    return has_all ? *most : sizeof *h;
}

void pfd_walk_pool_share(struct pfd_walk_pool *h, size_t n,
                         void (*piece)(void *user, size_t i), void *user)
{
    pfd_thread_pool_share(h->threads, n, piece, user);
}

bool pfd_walk_slice_begin(struct pfd_walk_slice *walk_slice,
                          const struct pfd_walk *of, size_t n_state)
{
    if (walk_slice->n_state < n_state) {
        void *state = realloc(walk_slice->state, n_state);
        if (!state)
            return false;
        walk_slice->state = state;
        walk_slice->n_state = n_state;
    }
    pfd_record_batch_clear(&walk_slice->batch);
    walk_slice->walk = *of;
    walk_slice->walk.batch = &walk_slice->batch;
    walk_slice->walk.state = walk_slice->state;
    memcpy(walk_slice->state, of->state, n_state);
    return true;
}
