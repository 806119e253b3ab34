/* SPDX-License-Identifier: MIT */
/*
 * --tail and context lines: chooses the last wanted entries, and entries around
 * wanted ones. The choice is known only at the end of a buffer, so a buffer is
 * read twice.
 */
#ifndef CLI_CONTEXT_H
#define CLI_CONTEXT_H

#include <printfdecode/convert.h>

struct context {
    uint64_t tail;    /* only the last entries, this many; 0: all */
    uint64_t context; /* entries to show before and after each */
    uint64_t n_wanted;
    uint64_t *n_given; /* original counter of the conversion, or NULL */
    uint64_t *last;    /* [n_last] indexes, of which the newest `tail` count */
    size_t n_last;
    size_t room;
    struct pfd_range *ranges; /* [n_ranges], in order, not touching */
    size_t n_ranges;
    size_t ranges_room;
    bool failed; /* out of memory */
};

void context_init(struct context *n, uint64_t tail, uint64_t context);
void context_deinit(struct context *n);

/* First pass: makes the conversion report the wanted entries and print
 * nothing. */
void context_look(struct context *n, struct pfd_convert *convert);

/* Second pass: makes it print the chosen ranges. False: out of memory. */
bool context_show(struct context *n, struct pfd_convert *convert);

#endif
