/* SPDX-License-Identifier: MIT */
/*
 * The page of /state: what the daemon knows of its inputs and sources now, as
 * one object of JSON. What the live page says of rates, losses and silence is
 * made of it. It is noted on the loop, and written by a worker.
 */
#ifndef PFDD_STATE_PAGE_H
#define PFDD_STATE_PAGE_H

#include "outputs/delivery.h"

struct pfdd_state; /* what was noted */

/* Bytes that a note and the text of it take now, at most. */
size_t pfdd_state_most(const struct pfdd_delivery *delivery);

/* Loop thread only. NULL: out of memory. */
struct pfdd_state *pfdd_state_new(const struct pfdd_delivery *delivery);
/* NULL is allowed. */
void pfdd_state_free(struct pfdd_state *state);

/* [*n] of JSON, allocated; NULL: out of memory. Any thread. */
char *pfdd_state_write(const struct pfdd_state *state, size_t *n);

#endif
