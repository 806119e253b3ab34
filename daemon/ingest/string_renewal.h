/* SPDX-License-Identifier: MIT */
/*
 * What has gone from the library is in everybody's set until that is made anew
 * (string_build.h): when that is worth it, and how much memory it may take meanwhile.
 * Loop thread only.
 */
#ifndef PFDD_STRING_RENEWAL_H
#define PFDD_STRING_RENEWAL_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/strings.h>

/* All zeros: nothing has gone. */
struct pfdd_string_renewal {
    struct pfd_strings *set; /* as far as it is; NULL: none is made */
    size_t n_garbage;        /* bytes of what has gone, in the set that is used,
                                and as reckoned not in the one that is made */
    size_t n_going;          /* which will be gone with the present set */
    size_t n_bytes;          /* that are kept free for the one that is made, */
    size_t n_least;          /* and for the next: the last one had too few */
};

/* There is more of what has gone than of what is there in a set of n_set bytes,
 * and n_left bytes of memory suffice for both for a while. */
bool pfdd_string_renewal_is_due(const struct pfdd_string_renewal *r,
                                size_t n_set, size_t n_left);

/* True: `set` is a new one. */
bool pfdd_string_renewal_begin(struct pfdd_string_renewal *r, size_t n_set,
                               size_t n_left);

/* Bytes that its set may take beyond what it has. */
size_t pfdd_string_renewal_rest(const struct pfdd_string_renewal *r);

/* Its set is used from now on (is_done), or has been given up: it lacked room. */
void pfdd_string_renewal_end(struct pfdd_string_renewal *r, bool is_done);

#endif
