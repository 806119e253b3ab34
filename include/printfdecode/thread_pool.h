/* SPDX-License-Identifier: MIT */
/*
 * Threads that help one that follows a buffer, where that is written faster than
 * one thread reads it: they copy parts of what is read (source.h), walk over the
 * entries in it, and do what is asked of them with those (tail.h).
 *
 * Thread rule: any number of sources and tails may share them, of any threads:
 * who finds them at work does without.
 */
#ifndef PRINTFDECODE_THREAD_POOL_H
#define PRINTFDECODE_THREAD_POOL_H

#include <printfdecode/printfdecode.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_thread_pool;

/* Does piece(of, i) for each i below n, in any order and by any threads; returns
 * when all are done. pfd_tail_share() is one. */
typedef void (*pfd_share_fn)(void *user, size_t n,
                             void (*piece)(void *of, size_t i), void *of);

/* They start when there is first something to do for them. threads: 16 at most;
 * 0: pfd_thread_pool_for() all processors. PFD_OK; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_thread_pool_new(unsigned threads,
                                            struct pfd_thread_pool **ret,
                                            struct pfd_error *err);

/* Nobody has them any more. NULL is allowed. */
PFD_API void pfd_thread_pool_free(struct pfd_thread_pool *thread_pool);

/* How many are worth having where there are so many processors to use: a fourth,
 * 3 at most, and perhaps none. */
PFD_API unsigned pfd_thread_pool_for(unsigned processors);

/* Bytes that they take; *most: those that they come to when they first walk over
 * entries, some 6 MiB. NULL is allowed: 0 both. */
PFD_API size_t pfd_thread_pool_memory(struct pfd_thread_pool *thread_pool,
                                      size_t *most);

#ifdef __cplusplus
}
#endif

#endif
