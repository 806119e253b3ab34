/* SPDX-License-Identifier: MIT */
/*
 * Threads that help to follow a buffer that is written faster than one thread
 * reads it: they copy slices of a reading, walk over the entries in them, and do
 * the caller's work on these.
 *
 * Thread rule: any number of sources and tails, of any threads, may share a
 * pool; a caller that finds it busy works alone.
 */
#ifndef PFD_WALK_POOL_H
#define PFD_WALK_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/tail.h>

#include "core/base/thread.h"
#include "stream/live/walk_slices.h"

struct pfd_walk_pool;

/* Threads start with the first work. threads: 16 at most; 0:
 * pfd_walk_pool_for() all processors. PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_walk_pool_new(unsigned threads, struct pfd_walk_pool **ret,
                                  struct pfd_error *err);

/* No source or tail may use it any more. NULL is allowed. */
void pfd_walk_pool_free(struct pfd_walk_pool *h);

/* How many threads are worth having on so many processors: a fourth, 3 at most,
 * and perhaps none. */
unsigned pfd_walk_pool_for(unsigned processors);

/* Bytes of memory that it holds; *most: that it holds at most, once its threads
 * walk over entries, some 6 MiB. NULL is allowed: 0 both. */
size_t pfd_walk_pool_memory(struct pfd_walk_pool *h, size_t *most);

/* Reserves the pool for this caller, until it is let go. False: it is NULL, has
 * no threads, or another caller holds it. */
bool pfd_walk_pool_hold(struct pfd_walk_pool *walk_pool);
void pfd_walk_pool_let_go(struct pfd_walk_pool *h);

/* The slices for the holder's walks. NULL: out of memory. */
struct pfd_walk_slices *pfd_walk_pool_slices(struct pfd_walk_pool *h);

/* Calls piece(user, i) for each i below n, here and on the threads, in any
 * order; returns when all calls are done. Only for the holder. */
void pfd_walk_pool_share(struct pfd_walk_pool *h, size_t n,
                         void (*piece)(void *user, size_t i), void *user);

#endif
