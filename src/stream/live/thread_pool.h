/* SPDX-License-Identifier: MIT */
#ifndef PFD_THREAD_POOL_H
#define PFD_THREAD_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/thread_pool.h>

#include "stream/live/walk_slices.h"

/* From here on they are this caller's, until it lets them go. False: there are
 * none (NULL is allowed), or somebody has them. */
bool pfd_thread_pool_hold(struct pfd_thread_pool *thread_pool);
void pfd_thread_pool_let_go(struct pfd_thread_pool *thread_pool);

/* What they find, the holder's. NULL: out of memory. */
struct pfd_walk_slices *pfd_thread_pool_slices(
    struct pfd_thread_pool *thread_pool);

/* Does piece(user, i) for each i below n, here and on the threads, in any order;
 * returns when all are done. By who holds them. */
void pfd_thread_pool_share(struct pfd_thread_pool *thread_pool, size_t n,
                           void (*piece)(void *user, size_t i), void *user);

#endif
