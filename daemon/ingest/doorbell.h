/* SPDX-License-Identifier: MIT */
/*
 * What a producer rings when it has written to a buffer: an eventfd that it
 * passed. However it is used, it can do no more than have a buffer looked at.
 * Loop thread only.
 */
#ifndef PFDD_DOORBELL_H
#define PFDD_DOORBELL_H

#include <uv.h>

struct pfdd_doorbell;

/* fd is taken over; ring is called with user. NULL: it is no eventfd, or there
 * is no memory; it is closed. */
struct pfdd_doorbell *pfdd_doorbell_hang(uv_loop_t *loop, int fd,
                                         void (*ring)(void *user), void *user);

/* It rings no more, and its memory goes with its handle. NULL is allowed. */
void pfdd_doorbell_drop(struct pfdd_doorbell *bell);

#endif
