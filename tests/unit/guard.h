/* SPDX-License-Identifier: MIT */
/*
 * Input for tests, placed so that its last byte is the last of a readable
 * page and cannot be written: one byte read too many, or any write, crashes.
 */
#ifndef GUARD_H
#define GUARD_H

#include <stddef.h>
#include <stdint.h>

struct guard {
    const uint8_t *bytes; /* [n] */
    size_t n;
    void *map;
    size_t n_map;
};

/* Copies bytes [n] (NULL for n == 0 is allowed); ends the test when the
 * system refuses. */
struct guard guard_new(const void *bytes, size_t n);
void guard_free(struct guard *guard);

#endif
