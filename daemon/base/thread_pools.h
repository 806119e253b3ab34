/* SPDX-License-Identifier: MIT */
/* The threads that all parts share, by what they are for. Loop thread only. */
#ifndef PFDD_THREAD_POOLS_H
#define PFDD_THREAD_POOLS_H

#include <printfdecode/source.h>

#include "base/job_pool.h"

/* NULL: not open. */
struct pfdd_thread_pools {
    struct pfdd_pool *decoders;
    struct pfdd_pool *printers; /* of pages that all share, */
    struct pfdd_pool *choosers; /* and of those of one reader */
    struct pfdd_pool *disk;     /* one thread: what is asked for first is
                                   written first */
    struct pfdd_pool *senders;  /* of much to subscribers; NULL: there are too
                                    few threads for that, the loop does it */
    struct pfd_thread_pool *thread_pool; /* of a decoder, with a large buffer;
                                    NULL: likewise, or no memory */
};

/* n_printers: threads of the printers, of which the senders have a part;
 * n_threads: of each other but the disk's.
 * False: not all are open, for want of memory or threads. */
bool pfdd_thread_pools_open(struct pfdd_thread_pools *thread_pools,
                            uv_loop_t *loop, unsigned n_threads,
                            unsigned n_printers);
/* No job may be pending. */
void pfdd_thread_pools_close(struct pfdd_thread_pools *thread_pools);

/* True: jobs are pending. */
bool pfdd_thread_pools_are_busy(const struct pfdd_thread_pools *thread_pools);
/* The longest that any has been stuck (job_pool.h), ms. */
uint64_t pfdd_thread_pools_stuck(const struct pfdd_thread_pools *thread_pools,
                                 uint64_t now);

#endif
