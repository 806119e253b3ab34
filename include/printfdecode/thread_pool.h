/* SPDX-License-Identifier: MIT */
/*
 * Threads that help to follow a buffer that is written faster than one thread
 * reads it: they copy slices of a reading (source.h), walk over the entries in
 * them, and do the caller's work on these (tail.h).
 *
 * Thread rule: any number of sources and tails, of any threads, may share a
 * pool; a caller that finds it busy works alone.
 */
#ifndef PRINTFDECODE_THREAD_POOL_H
#define PRINTFDECODE_THREAD_POOL_H

#include <printfdecode/printfdecode.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_thread_pool;

/* Calls piece(of, i) for each i below n, in any order and on any threads;
 * returns when all calls are done. pfd_tail_share() is one. */
typedef void (*pfd_share_fn)(void *user, size_t n,
                             void (*piece)(void *of, size_t i), void *of);

/* Threads start with the first work. threads: 16 at most; 0:
 * pfd_thread_pool_for() all processors. PFD_OK; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_thread_pool_new(unsigned threads,
                                            struct pfd_thread_pool **ret,
                                            struct pfd_error *err);

/* No source or tail may use it any more. NULL is allowed. */
PFD_API void pfd_thread_pool_free(struct pfd_thread_pool *thread_pool);

/* How many threads are worth having on so many processors: a fourth, 3 at most,
 * and perhaps none. */
PFD_API unsigned pfd_thread_pool_for(unsigned processors);

/* Bytes of memory that it holds; *most: that it holds at most, once its threads
 * walk over entries, some 6 MiB. NULL is allowed: 0 both. */
PFD_API size_t pfd_thread_pool_memory(struct pfd_thread_pool *thread_pool,
                                      size_t *most);

#ifdef __cplusplus
}
#endif

#endif
