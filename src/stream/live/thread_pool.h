/* SPDX-License-Identifier: MIT */
#ifndef PFD_THREAD_POOL_H
#define PFD_THREAD_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/thread_pool.h>

#include "stream/live/walk_slices.h"

/* From here on they are this caller's, until it lets them go. False: there are
 * none (NULL is allowed), or somebody has them. */
bool pfd_helpers_hold(struct pfd_helpers *helpers);
void pfd_helpers_let_go(struct pfd_helpers *helpers);

/* What they find, the holder's. NULL: out of memory. */
struct pfd_stretches *pfd_helpers_stretches(struct pfd_helpers *helpers);

/* Does piece(user, i) for each i below n, here and on the threads, in any order;
 * returns when all are done. By who holds them. */
void pfd_helpers_share(struct pfd_helpers *helpers, size_t n,
                       void (*piece)(void *user, size_t i), void *user);

#endif
