/* SPDX-License-Identifier: MIT */
#ifndef PFD_THREAD_POOL_H
#define PFD_THREAD_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/tail.h>

#include "stream/live/walk_slices.h"

/* How many threads are worth having on so many processors: a fourth, 3 at most,
 * and perhaps none. */
unsigned pfd_thread_pool_for(unsigned processors);

/* Bytes of memory that it holds; *most: that it holds at most, once its threads
 * walk over entries, some 6 MiB. NULL is allowed: 0 both. */
size_t pfd_thread_pool_memory(struct pfd_thread_pool *thread_pool,
                              size_t *most);

/* Reserves the pool for this caller, until it is let go. False: it is NULL, has
 * no threads, or another caller holds it. */
bool pfd_thread_pool_hold(struct pfd_thread_pool *thread_pool);
void pfd_thread_pool_let_go(struct pfd_thread_pool *h);

/* The slices for the holder's walks. NULL: out of memory. */
struct pfd_walk_slices *pfd_thread_pool_slices(struct pfd_thread_pool *h);

/* Calls piece(user, i) for each i below n, here and on the threads, in any
 * order; returns when all calls are done. Only for the holder. */
void pfd_thread_pool_share(struct pfd_thread_pool *h, size_t n,
                           void (*piece)(void *user, size_t i), void *user);

#endif
