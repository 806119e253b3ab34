/* SPDX-License-Identifier: MIT */
/*
 * Which entries of unknown ids are worth a line: the first of each id, and not
 * too many of all ids together. Whoever prints a stretch of a buffer does not
 * know how many come before: it prints the first of each id there
 * (pfd_unsure_*), and what is too many is taken out again when all before is
 * known (pfd_unknown_limit_cut()).
 */
#ifndef PFD_UNKNOWN_LIMIT_H
#define PFD_UNKNOWN_LIMIT_H

#include "core/base/text.h"
#include "core/output/finding_counts.h"

enum {
    PFD_UNKNOWN_LIMIT_OF_ID = 8,
    PFD_UNKNOWN_LIMIT_MAX = 64, /* of all */
};

/* Of a whole buffer, in its order. */
struct pfd_unknown_limit {
    unsigned n; /* shown so far */
    unsigned n_ids;
    struct {
        uint64_t id;
        unsigned n;
    } ids[PFD_UNKNOWN_LIMIT_MAX];
};

/* What was printed of one stretch and may have to be taken out. */
struct pfd_unsure {
    struct pfd_unsure_part {
        size_t from; /* bytes of the output */
        size_t to;
        uint64_t id;
    } * parts; /* [n] of [room], in order; owned */
    size_t n;
    size_t room;
    struct pfd_finding_counts ids; /* how many of each */
    uint64_t n_hidden;             /* not even printed */
    bool failed;                   /* out of memory */
};

void pfd_unsure_free(struct pfd_unsure *unsure);

/* Begins a new stretch. */
void pfd_unsure_clear(struct pfd_unsure *unsure);

/* An entry of this id is to be printed, at byte `at` of the output: true, and
 * pfd_unsure_end() says where it ended. False: it is too many for sure. */
bool pfd_unsure_begin(struct pfd_unsure *unsure, uint64_t id, size_t at);
void pfd_unsure_end(struct pfd_unsure *unsure, size_t at);

/* Takes out of the output what is too many, and forgets where it was; how many
 * entries that were. */
uint64_t pfd_unknown_limit_cut(struct pfd_unknown_limit *unknown_limit,
                               struct pfd_unsure *unsure, struct pfd_text *out);

#endif
