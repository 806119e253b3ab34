/* SPDX-License-Identifier: MIT */
/*
 * The order of many numbers in little memory: exact while there is room; then
 * every second of a sorted run is dropped, and stands for two, and so on. Each
 * time a rank may be off by what one number stands for, which is added up: how
 * far off an answer is at the most is known. (J. I. Munro and M. S. Paterson,
 * 1980; G. S. Manku et al., 1998.)
 */
#ifndef PFD_QUANTILE_H
#define PFD_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFD_QUANTILE_LEVELS = 48,
    PFD_QUANTILE_ROOM = 4096, /* numbers of a level, where memory lasts */
    PFD_QUANTILE_LEAST = 64,  /* and where it does not */
};

/* All zero is empty. */
struct pfd_quantile {
    struct pfd_quantile_level {
        uint64_t *values; /* [n] of [room]; owned */
        uint32_t n;
        uint32_t room;
        bool odd; /* which half is dropped next */
    } levels[PFD_QUANTILE_LEVELS];
    uint64_t n;     /* numbers added */
    uint64_t error; /* ranks that an answer may be off */
};

/* *memory: bytes that are left to take, counted down. False: out of memory. */
bool pfd_quantile_add(struct pfd_quantile *q, uint64_t value, size_t *memory);

/* The number of which a share of all is no greater (0 < share <= 1), among
 * those that are left. False when there is none, or no memory. */
bool pfd_quantile_ask(const struct pfd_quantile *q, double share,
                      uint64_t *ret);

void pfd_quantile_free(struct pfd_quantile *q);

#endif
