/* SPDX-License-Identifier: MIT */
/* Threads with a stack whose size is known. */
#ifndef PFD_THREAD_H
#define PFD_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/*
 * Starts a thread that runs work(arg). Its stack has 1 MiB, whatever the C
 * library (128 KiB with musl) or the limit of the process would give. False:
 * no thread was started, and *ret is not to be used.
 */
bool pfd_thread_start(pthread_t *ret, void *(*work)(void *), void *arg);

#endif
