/* SPDX-License-Identifier: MIT */
/*
 * Chooses the entries of a range where strings share IDs. An entry has no
 * length, so the choice among its ID's strings also determines where the next
 * entry begins. Every chain of entries through the range is weighed by the bits
 * that it takes to describe the bytes. The likeliest one is used; others that
 * are not much less likely are doubt.
 */
#ifndef OPENCL_SHARED_IDS_H
#define OPENCL_SHARED_IDS_H

#include "layout.h"

enum {
    OPENCL_RANGE_BYTES = 1 << 16,
    /* Limits: places of a range, steps between them, strings of one ID, and
     * files that are distinguished. */
    OPENCL_PLACES = 1 << 14,
    OPENCL_STEPS = 1 << 17,
    OPENCL_CANDIDATES = 256,
    OPENCL_SOURCES = 256,
};

/* A possible entry. */
struct opencl_step {
    int32_t bits;
    uint16_t to;    /* the place where it ends */
    uint16_t which; /* index among the strings of its ID */
};

/* Bits are counted relative to dwords of unknown type. "lost": the bytes before
 * belong to no entry. */
struct opencl_place {
    int32_t before; /* of the likeliest way to here */
    int32_t before_lost;
    int32_t after; /* of the likeliest way from here */
    int32_t after_lost;
    uint32_t step;     /* index of the first step */
    uint16_t n_steps;  /* possible entries that begin here */
    bool is_elsewhere; /* perhaps no entry begins here */
};

/* A range; all zeros: none. */
struct opencl_range {
    uint64_t from;
    uint32_t unit;      /* bytes between places */
    uint32_t n_places;  /* the one after the last is the end */
    uint32_t n_decided; /* places at the beginning that are decided; later ones
                           are evidence */
};

/* A file with strings. */
struct opencl_source {
    int32_t bits;      /* of an entry that has one of its strings */
    uint64_t n_shares; /* sum of its likely shares of entries */
    bool is_met;
};

struct opencl_plan {
    struct opencl_source source[OPENCL_SOURCES]; /* of the buffer */
    uint32_t any[OPENCL_PLACES + 1]; /* bits of the dwords from each place on */
    struct opencl_place place[OPENCL_PLACES + 1];
    struct opencl_step step[OPENCL_STEPS];
};

/* The decision for a place. */
struct opencl_choice {
    const struct pfd_string *string;                      /* NULL: no entry */
    const struct pfd_string *other[PFD_ALTERNATIVES_MAX]; /* [n_others] */
    unsigned n_others;
    bool is_sure;
};

/* Plans the range from `at` on; is_lost: the bytes before belong to no entry.
 * The view holds OPENCL_STRETCH_BYTES from there on, or the rest. */
void opencl_plan_make(struct opencl_plan *plan, struct opencl_range *ret,
                      const struct pfd_walk *walk, uint64_t at,
                      uint64_t buffer_end, bool is_lost);

static inline bool opencl_plan_decides(const struct opencl_range *s,
                                       uint64_t at)
{
    return s->unit && at >= s->from && (at - s->from) % s->unit == 0 &&
           (at - s->from) / s->unit < s->n_decided;
}

static inline uint64_t opencl_stretch_end(const struct opencl_range *s)
{
    return s->from + (uint64_t)s->n_places * s->unit;
}

/* The decision for a place of the range. */
void opencl_plan_choose(const struct opencl_plan *plan,
                        const struct opencl_range *s,
                        const struct pfd_walk *walk, uint64_t at, bool is_lost,
                        struct opencl_choice *ret);

#endif
