/* SPDX-License-Identifier: MIT */
/* Threads with a stack whose size is known, and how many are worth having. */
#ifndef PFD_THREAD_H
#define PFD_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/*
 * Starts a thread that runs work(arg). Its stack has 1 MiB, whatever the C
 * library (128 KiB with musl) or the limit of the process would give. Signals of
 * the process go to other threads. False: no thread was started, and *ret is
 * not to be used.
 */
bool pfd_thread_start(pthread_t *ret, void *(*work)(void *), void *arg);

/* For a mutex that is held for less time than going to sleep takes. */
void pfd_mutex_init_short(pthread_mutex_t *mutex);

/* The number of processors this thread may run on; 1 where the system does not
 * report it. */
unsigned pfd_processor_count(void);

/* Calls piece(of, i) for each i below n, in any order and on any threads;
 * returns when all calls are done. pfd_tail_share() is one. */
typedef void (*pfd_share_fn)(void *user, size_t n,
                             void (*piece)(void *of, size_t i), void *of);

#endif
