/* SPDX-License-Identifier: MIT */
/*
 * Which entries a stretch of a buffer holds, where strings share IDs: an entry
 * has no length, so which of its ID's strings it is of also says where the next
 * one begins. Every chain of entries through the stretch is weighed by the bits
 * that it takes to say what is there, and the likeliest one is taken; what is
 * not much less likely is doubt.
 */
#ifndef OPENCL_SHARED_IDS_H
#define OPENCL_SHARED_IDS_H

#include "opencl.h"

enum {
    OPENCL_STRETCH_BYTES = 1 << 16,
    /* Places of a stretch, steps between them, strings of one ID, and files
     * that are told apart. */
    OPENCL_PLACES = 1 << 14,
    OPENCL_STEPS = 1 << 17,
    OPENCL_CANDIDATES = 256,
    OPENCL_SOURCES = 256,
};

/* An entry that can be. */
struct opencl_step {
    int32_t bits;
    uint16_t to;    /* place */
    uint16_t which; /* of the strings of its ID */
};

/* Bits are counted beside those of the bytes as words of which nothing is
 * known; "lost": where the bytes before are no entry's. */
struct opencl_place {
    int32_t before; /* of the likeliest way here */
    int32_t before_lost;
    int32_t after; /* of the likeliest way on */
    int32_t after_lost;
    uint32_t step;     /* the first one */
    uint16_t n_steps;  /* the entries that can begin here */
    bool is_elsewhere; /* perhaps no entry begins here */
};

/* A stretch: zero where there is none. */
struct opencl_stretch {
    uint64_t from;
    uint32_t unit;      /* bytes from place to place */
    uint32_t n_places;  /* behind the last one is no place */
    uint32_t n_decided; /* those before others, which say what they are */
};

/* A file that strings are of. */
struct opencl_source {
    int32_t bits;      /* that an entry is of one of them */
    uint64_t n_shares; /* of entries that are, likely */
    bool is_met;
};

struct opencl_plan {
    struct opencl_source source[OPENCL_SOURCES]; /* of the buffer */
    uint32_t any[OPENCL_PLACES + 1]; /* bits of the dwords from there on */
    struct opencl_place place[OPENCL_PLACES + 1];
    struct opencl_step step[OPENCL_STEPS];
};

/* What is at a place. */
struct opencl_choice {
    const struct pfd_string *string;                      /* NULL: no entry */
    const struct pfd_string *other[PFD_ALTERNATIVES_MAX]; /* [n_others] */
    unsigned n_others;
    bool is_sure;
};

/* Makes a plan of the stretch from `at` on; is_lost: the bytes before are no
 * entry's. The view holds OPENCL_STRETCH_BYTES from there on, or all. */
void opencl_plan_make(struct opencl_plan *plan, struct opencl_stretch *ret,
                      const struct pfd_walk *walk, uint64_t at,
                      uint64_t buffer_end, bool is_lost);

static inline bool opencl_plan_decides(const struct opencl_stretch *s,
                                       uint64_t at)
{
    return s->unit && at >= s->from && (at - s->from) % s->unit == 0 &&
           (at - s->from) / s->unit < s->n_decided;
}

static inline uint64_t opencl_stretch_end(const struct opencl_stretch *s)
{
    return s->from + (uint64_t)s->n_places * s->unit;
}

/* The choice at a place of the stretch. */
void opencl_plan_choose(const struct opencl_plan *plan,
                        const struct opencl_stretch *s,
                        const struct pfd_walk *walk, uint64_t at, bool is_lost,
                        struct opencl_choice *ret);

#endif
