/* SPDX-License-Identifier: MIT */
/* The threads that all parts share, by purpose. Loop thread only. */
#ifndef PFDD_THREAD_POOLS_H
#define PFDD_THREAD_POOLS_H

#include <printfdecode/tail.h>

#include "base/job_pool.h"

/* NULL: not open. */
struct pfdd_thread_pools {
    struct pfdd_pool *decoders;
    struct pfdd_pool *printers; /* render blocks that cursors share */
    struct pfdd_pool *choosers; /* render blocks of one cursor */
    struct pfdd_pool *disk;     /* one thread: writes in the order of
                                   submission */
    /* Send large amounts to subscribers; NULL: there are too few threads, and
     * the loop sends. */
    struct pfdd_pool *senders;
    /* Helps a decoder with a large buffer; NULL: there are too few threads, or
     * no memory. */
    struct pfd_walk_pool *walk_pool;
};

/* n_printers: threads of the printers, and a part of that for the senders;
 * n_threads: of each other pool but the disk's. False: not all are open, for
 * lack of memory or threads. */
bool pfdd_thread_pools_open(struct pfdd_thread_pools *thread_pools,
                            uv_loop_t *loop, unsigned n_threads,
                            unsigned n_printers);
/* No job may be pending. */
void pfdd_thread_pools_close(struct pfdd_thread_pools *thread_pools);

/* True: jobs are pending. */
bool pfdd_thread_pools_are_busy(const struct pfdd_thread_pools *thread_pools);
/* The longest time that a pool has been stuck (job_pool.h), ms. */
uint64_t pfdd_thread_pools_stuck(const struct pfdd_thread_pools *thread_pools,
                                 uint64_t now);

#endif
