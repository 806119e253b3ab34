/* SPDX-License-Identifier: MIT */
/*
 * Threads that take jobs in order: `run` on a thread of the pool, then `done`
 * on the loop's. A pool of one thread keeps jobs in order altogether.
 */
#ifndef PFDD_JOB_POOL_H
#define PFDD_JOB_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

struct pfdd_pool;

/* What a member belongs to. */
#define PFDD_MEMBER_OF(type, at, member) \
    ((type *)(void *)((char *)(at)-offsetof(type, member)))

/* The owner's memory, borrowed until done is called. */
struct pfdd_job {
    void (*run)(struct pfdd_job *job);
    void (*done)(struct pfdd_job *job);
    /* On the loop, when run hands something over, which is then to be taken,
     * sooner or later: pfdd_pool_taken(). NULL: it does not. */
    void (*half)(struct pfdd_job *job);
    /* The pool's. */
    struct pfdd_job *next;
    struct pfdd_pool *pool;
    bool is_handing;
};

/* NULL: no memory or no thread. */
struct pfdd_pool *pfdd_pool_new(uv_loop_t *loop, unsigned n_threads);

/* Loop thread only. */
void pfdd_pool_submit(struct pfdd_pool *pool, struct pfdd_job *job);

/* In run: waits until what was handed over before has been taken, as the end of
 * run does, too. */
void pfdd_pool_await(struct pfdd_job *job);
/* In run, when that has been: has half called, and goes on. */
void pfdd_pool_hand(struct pfdd_job *job);
/* Loop thread only. */
void pfdd_pool_taken(struct pfdd_job *job);

/* For how long jobs have been waiting without any getting done, ms; 0: none
 * waits, but for the loop. now: uv_hrtime(). */
uint64_t pfdd_pool_stuck(const struct pfdd_pool *pool, uint64_t now);
/* Jobs that were submitted and are not done. */
unsigned pfdd_pool_pending(const struct pfdd_pool *pool);

/* Processor time that this thread has had, ns. */
uint64_t pfdd_job_cpu_ns(void);

/* No job may be pending. The threads end now; the memory is freed by the loop.
 * NULL is allowed. */
void pfdd_pool_close(struct pfdd_pool *pool);

#endif
