/* SPDX-License-Identifier: MIT */
#ifndef PFDD_MALLOC_SETUP_H
#define PFDD_MALLOC_SETUP_H

#include <stddef.h>

/*
 * Call before other threads begin. From then on malloc() uses one heap, up to n
 * bytes of it in large pages. Most memory of the daemon is lines and chunks
 * that live for a while: each takes fresh memory, which one thread allocates
 * and another frees. With pages of 4 KiB, and a heap for each thread that grows
 * with each chunk, that takes half the time of reading a buffer. Only pages
 * that are used take memory. Does nothing where the system does not support it.
 */
void pfdd_malloc_setup(size_t n);

#endif
