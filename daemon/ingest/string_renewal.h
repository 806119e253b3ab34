/* SPDX-License-Identifier: MIT */
/*
 * Evicted code objects stay in the shared set until that is renewed
 * (string_build.h). This decides when a renewal is due, and how much memory it
 * may take. Loop thread only.
 */
#ifndef PFDD_STRING_RENEWAL_H
#define PFDD_STRING_RENEWAL_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/strings.h>

/* All zeros: nothing was evicted. */
struct pfdd_string_renewal {
    struct pfd_strings *set; /* the renewed set so far; NULL: none */
    size_t n_garbage;        /* bytes of evicted objects in the present set;
                                during a renewal only of those evicted since it
                                began */
    size_t n_going;          /* bytes of evicted objects that go with the
                                present set */
    size_t n_bytes;          /* bytes reserved for the renewed set, */
    size_t n_least;          /* and at least for the next one: the last had too
                                few */
};

/* True: at least half of a set of n_set bytes is of evicted objects, and n_left
 * bytes of memory suffice for both sets for a while. */
bool pfdd_string_renewal_is_due(const struct pfdd_string_renewal *r,
                                size_t n_set, size_t n_left);

/* True: `set` is a new one. */
bool pfdd_string_renewal_begin(struct pfdd_string_renewal *r, size_t n_set,
                               size_t n_left);

/* Bytes that the renewed set may still take. */
size_t pfdd_string_renewal_rest(const struct pfdd_string_renewal *r);

/* The renewed set is used from now on (is_done), or was given up for lack of
 * memory. */
void pfdd_string_renewal_end(struct pfdd_string_renewal *r, bool is_done);

#endif
