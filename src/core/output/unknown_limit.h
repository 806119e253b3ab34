/* SPDX-License-Identifier: MIT */
/*
 * Limits lines for entries of unknown ids: the first of each id, and not too
 * many of all ids together. A worker that prints one slice of a buffer does not
 * know how many come before: it prints the first of each id there
 * (pfd_unsure_*), and the excess is cut once everything before is known
 * (pfd_unknown_limit_cut()).
 */
#ifndef PFD_UNKNOWN_LIMIT_H
#define PFD_UNKNOWN_LIMIT_H

#include "core/base/text.h"
#include "core/output/finding_counts.h"

enum {
    PFD_UNKNOWN_LIMIT_OF_ID = 8,
    PFD_UNKNOWN_LIMIT_MAX = 64, /* of all */
};

/* The counts for a whole buffer, in its order. */
struct pfd_unknown_limit {
    unsigned n; /* shown so far */
    unsigned n_ids;
    struct {
        uint64_t id;
        unsigned n;
    } ids[PFD_UNKNOWN_LIMIT_MAX];
};

/* Printed parts of one slice that may be cut. */
struct pfd_unknown_parts {
    struct pfd_unsure_part {
        size_t from; /* bytes of the output */
        size_t to;
        uint64_t id;
    } * parts; /* [n] of [room], in order; owned */
    size_t n;
    size_t room;
    struct pfd_finding_counts ids; /* how many of each */
    uint64_t n_hidden;             /* never printed */
    bool failed;                   /* out of memory */
};

void pfd_unsure_free(struct pfd_unknown_parts *unsure);

/* Begins a new slice. */
void pfd_unsure_clear(struct pfd_unknown_parts *unsure);

/* Before an entry of this id is printed at byte `at` of the output. True: print
 * it, then call pfd_unsure_end() with its end. False: certainly too many. */
bool pfd_unsure_begin(struct pfd_unknown_parts *unsure, uint64_t id, size_t at);
void pfd_unsure_end(struct pfd_unknown_parts *unsure, size_t at);

/* Cuts the excess from the output and clears the list of parts; returns the
 * number of entries cut. */
uint64_t pfd_unknown_limit_cut(struct pfd_unknown_limit *s,
                               struct pfd_unknown_parts *unsure,
                               struct pfd_text *out);

#endif
