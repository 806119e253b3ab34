/* SPDX-License-Identifier: MIT */
/*
 * Quantiles of many numbers in little memory: exact while they fit. Then every
 * second number of a sorted level is dropped, and each remaining one stands for
 * two, and so on. Each step may shift a rank by the number that one stands for;
 * the sum of these bounds the error of an answer. (J. I. Munro and M. S.
 * Paterson, 1980; G. S. Manku et al., 1998.)
 */
#ifndef PFD_QUANTILE_H
#define PFD_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/common.h>

enum {
    PFD_QUANTILE_LEVELS = 48,
    PFD_QUANTILE_ROOM = 4096, /* numbers of a level, while memory lasts */
    PFD_QUANTILE_LEAST = 64,  /* and once it is short */
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
    uint64_t error; /* bound of an answer's error, in ranks */
};

/* *memory: bytes left, counted down. False: out of memory. */
bool pfd_quantile_add(struct pfd_quantile *q, uint64_t value, size_t *memory);

/* The least remaining number that is not below a share of all numbers (0 <
 * share <= 1). PFD_OK; PFD_END: there is none; PFD_ERR_NOMEM. */
enum pfd_status pfd_quantile_ask(const struct pfd_quantile *q, double share,
                                 uint64_t *ret);

void pfd_quantile_free(struct pfd_quantile *q);

#endif
