/* SPDX-License-Identifier: MIT */
#ifndef PFDD_MALLOC_SETUP_H
#define PFDD_MALLOC_SETUP_H

#include <stddef.h>

/*
 * Before other threads begin: what malloc() gives from now on comes from one
 * heap, up to n bytes of it in large pages. Most memory of the daemon is lines
 * and chunks that stay for a while, each in memory that was not there before,
 * which one thread gives and another frees: with pages of 4 KiB, and a heap for
 * each thread that grows with each chunk, half the time of reading a buffer goes
 * there. Only what is used takes memory. Where the system has it otherwise, this
 * does nothing.
 */
void pfdd_malloc_setup(size_t n);

#endif
