/* SPDX-License-Identifier: MIT */
/*
 * Threads that take jobs in order: `run` on a thread of the pool, then `done`
 * on the loop thread. A pool of one thread also completes jobs in order.
 */
#ifndef PFDD_JOB_POOL_H
#define PFDD_JOB_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "core/base/thread_pool.h"

struct pfdd_pool;

/* The struct that a member belongs to. */
#define PFDD_MEMBER_OF(type, at, member) \
    ((type *)(void *)((char *)(at)-offsetof(type, member)))

/* In its owner's memory, borrowed until done is called. */
struct pfdd_job {
    void (*run)(struct pfdd_job *job);
    void (*done)(struct pfdd_job *job);
    /* On the loop, after pfdd_pool_hand(): a part of the result is ready. Its
     * taker calls pfdd_pool_taken(), now or later. NULL: there are no parts. */
    void (*half)(struct pfdd_job *job);
    /* The pool's. */
    struct pfd_pool_job pool_job;
    struct pfdd_job *next; /* that is finished, too */
    struct pfdd_pool *pool;
    bool is_handing;
};

/* NULL: no memory or no thread. */
struct pfdd_pool *pfdd_pool_new(uv_loop_t *loop, unsigned n_threads);

/* Loop thread only. */
void pfdd_pool_submit(struct pfdd_pool *pool, struct pfdd_job *job);

/* In run: waits until the previous part was taken. The end of run waits,
 * too. */
void pfdd_pool_await(struct pfdd_job *job);
/* In run, after that wait: has half called, and does not wait for it. */
void pfdd_pool_hand(struct pfdd_job *job);
/* Loop thread only. */
void pfdd_pool_taken(struct pfdd_job *job);

/* Time since jobs wait and none makes progress, ms; 0: no job waits for a
 * thread. now: uv_hrtime(). */
uint64_t pfdd_pool_stuck(const struct pfdd_pool *pool, uint64_t now);
/* Jobs that were submitted and are not done. */
unsigned pfdd_pool_pending(const struct pfdd_pool *pool);

/* Processor time that this thread has used, ns. */
uint64_t pfdd_job_cpu_ns(void);

/* No job may be pending. The threads end now; the memory is freed by the loop.
 * NULL is allowed. */
void pfdd_pool_close(struct pfdd_pool *pool);

#endif
