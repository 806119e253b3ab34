/* SPDX-License-Identifier: MIT */
/*
 * Of entries, so many a second at most: those that are left out are spread
 * evenly, and counted, and so are those that a filter leaves out. Findings are
 * left out last. Somebody who looks at what a program prints sees no more than
 * that anyway. One thread at a time.
 */
#ifndef PFDD_SAMPLER_H
#define PFDD_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfdd_left_out {
    uint64_t entries;
    uint64_t findings; /* but for notes: of these entries, and between them */
};

/* All zeros: nothing has come. */
struct pfdd_sampler {
    uint64_t counted; /* items below this number have been */
    struct pfdd_left_out filtered;
    struct pfdd_left_out sampled;
    struct pfdd_left_out said; /* the sum of both, when it was told last */
    uint64_t filled_ns;        /* up to when the following are earned */
    double spare;              /* entries that may come yet */
    double spare_found;        /* likewise, of those with findings */
    double share;              /* of an item of the present piece */
    double due;                /* earned by these */
};

/* The n items from a number on are looked at, perhaps once more, at a rate of
 * entries a second. */
void pfdd_sampler_begin(struct pfdd_sampler *s, uint32_t rate, uint64_t first,
                        uint64_t n, uint64_t now_ns);
void pfdd_sampler_end(struct pfdd_sampler *s);

/* An item has come; one of a number that has been counted is not again. True:
 * it is new. */
bool pfdd_sampler_item(struct pfdd_sampler *s, uint64_t seq);

/* May an entry with these findings come? It has its place then. */
bool pfdd_sampler_takes(struct pfdd_sampler *s, uint64_t findings);

/* Counts what has n_entries (0 or 1) and these findings. */
void pfdd_left_out_add(struct pfdd_left_out *to, uint64_t n_entries,
                       uint64_t findings);

enum {
    PFDD_LEFT_OUT = 256, /* bytes of the record */
};

/* The record of all that was left out so far, without an end of line; 0: it was
 * told before. */
size_t pfdd_sampler_tell(struct pfdd_sampler *s, char ret[PFDD_LEFT_OUT]);

#endif
