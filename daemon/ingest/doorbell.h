/* SPDX-License-Identifier: MIT */
/*
 * An eventfd that a producer passed, and rings when it has written to a buffer.
 * However it is used, it can cause no more than a poll of that buffer. Loop
 * thread only.
 */
#ifndef PFDD_DOORBELL_H
#define PFDD_DOORBELL_H

#include <uv.h>

struct pfdd_doorbell;

/* Takes over fd; calls ring with user. NULL: not an eventfd, or out of memory;
 * fd is closed. */
struct pfdd_doorbell *pfdd_doorbell_hang(uv_loop_t *loop, int fd,
                                         void (*ring)(void *user), void *user);

/* ring is not called any more; the memory is freed with the handle. NULL is
 * allowed. */
void pfdd_doorbell_drop(struct pfdd_doorbell *bell);

#endif
