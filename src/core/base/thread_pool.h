/* SPDX-License-Identifier: MIT */
/*
 * Threads that take jobs in the order of submission. A job may have several
 * pieces, for as many threads. A caller that has to wait for its work takes
 * part in it, so it never waits for a thread that has not woken.
 *
 * Thread rule: any thread may submit, share or help.
 */
#ifndef PFD_THREAD_POOL_H
#define PFD_THREAD_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct pfd_thread_pool;

/* In its owner's memory, borrowed until run() is called for the last piece. */
struct pfd_pool_job {
    void (*run)(struct pfd_pool_job *job, size_t i);
    size_t n; /* pieces: run() is called for each i below n, in any order */
    /* The pool's. */
    size_t n_taken;
    size_t *n_left; /* of a shared job: pieces that are not done */
    struct pfd_pool_job *next;
};

/* The threads start with pfd_thread_pool_start() or the first shared work. NULL:
 * out of memory. */
struct pfd_thread_pool *pfd_thread_pool_new(size_t threads);

/* Does the queued jobs, and ends the threads. NULL is allowed. */
void pfd_thread_pool_free(struct pfd_thread_pool *pool);

/* Returns how many threads there are; some may not be startable. */
size_t pfd_thread_pool_start(struct pfd_thread_pool *pool);

void pfd_thread_pool_submit(struct pfd_thread_pool *pool,
                            struct pfd_pool_job *job);

/* Runs a piece of the first queued job here. False: no job is queued. */
bool pfd_thread_pool_help(struct pfd_thread_pool *pool);

/* Calls piece(user, i) for each i below n, here and on the threads; this thread
 * has the first one. Returns when all calls are done. pool: NULL: all here. */
void pfd_thread_pool_share(struct pfd_thread_pool *pool, size_t n,
                           void (*piece)(void *user, size_t i), void *user);

#endif
