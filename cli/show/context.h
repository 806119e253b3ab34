/* SPDX-License-Identifier: MIT */
/*
 * The last wanted entries, and the entries around wanted ones: which these are
 * is known when all have been looked at, so a buffer is read twice.
 */
#ifndef CLI_CONTEXT_H
#define CLI_CONTEXT_H

#include <printfdecode/convert.h>

#include "options.h"

struct context {
    uint64_t tail;    /* only the last so many; 0: all */
    uint64_t context; /* with so many on both sides */
    uint64_t n_wanted;
    uint64_t *n_given; /* what convert counts in, or NULL */
    uint64_t *last;    /* [n_last], of which the newest `tail` count */
    size_t n_last;
    size_t room;
    struct pfd_range *ranges; /* [n_ranges], in order and apart */
    size_t n_ranges;
    size_t ranges_room;
    bool failed; /* out of memory */
};

/* Is anything of this asked for? */
bool context_wanted(const struct options *options);

void context_init(struct context *n, const struct options *options);
void context_deinit(struct context *n);

/* Has the conversion tell what is wanted, and print nothing. */
void context_look(struct context *n, struct pfd_convert *convert);

/* Has it print that instead of what it would. False: out of memory. */
bool context_show(struct context *n, struct pfd_convert *convert);

#endif
