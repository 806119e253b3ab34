/* SPDX-License-Identifier: MIT */
/*
 * Counts findings about entries by kind, id and string: a wrong code object
 * causes the same one for every entry. Keeps the first of each, in order of
 * occurrence; beyond a limit, only the number of each kind.
 */
#ifndef PFD_FINDING_COUNTS_H
#define PFD_FINDING_COUNTS_H

#include <printfdecode/common.h>

#include "core/base/text.h"

struct pfd_finding_counts_row {
    uint64_t id;
    uint64_t string; /* its number, if the id has several; else UINT64_MAX */
    uint64_t count;
    uint64_t offset; /* of the first */
    uint64_t index;
    size_t text; /* its sentence: offset in finding_counts.text */
    enum pfd_finding_kind kind;
    bool has_text;
};

struct pfd_finding_counts {
    struct pfd_finding_counts_row *rows; /* [n] of [room]; owned */
    size_t n;
    size_t room;
    size_t max;      /* limit of rows; 0: none */
    uint32_t *slots; /* [n_slots], a power of two: row + 1, 0 is free; owned */
    size_t n_slots;
    struct pfd_finding_counts_row
        rest[PFD_ENTRY_FINDING_KINDS]; /* beyond max */
    struct pfd_text text;
    bool failed; /* out of memory */
};

void pfd_finding_counts_free(struct pfd_finding_counts *t);
void pfd_finding_counts_clear(struct pfd_finding_counts *t);

/*
 * The row of a kind and an id and, where an id has several strings, one of
 * them; created with count 0 if it is new. NULL when out of memory. Beyond the
 * limit of rows: the row for the rest of the kind.
 */
struct pfd_finding_counts_row *pfd_finding_counts_row(
    struct pfd_finding_counts *t, enum pfd_finding_kind kind, uint64_t id,
    uint64_t string);

/* Counts n more in a row; offset and index: of the first of them. */
void pfd_finding_counts_count(struct pfd_finding_counts_row *row, uint64_t n,
                              uint64_t offset, uint64_t index);

/* The row's sentence, copied. */
void pfd_finding_counts_set_text(struct pfd_finding_counts *t,
                                 struct pfd_finding_counts_row *row,
                                 const char *text);

/* Adds the counts of a later part of the input. */
void pfd_finding_counts_merge(struct pfd_finding_counts *to,
                              const struct pfd_finding_counts *from);

/*
 * Row i as a finding, with its sentence and its count in text (which is
 * overwritten). False: there is no row i.
 */
bool pfd_finding_counts_finding(const struct pfd_finding_counts *finding_counts,
                                size_t i, const char *source,
                                struct pfd_text *text, struct pfd_finding *ret);

/*
 * Limits lines for entries of unknown ids: the first of each id, and not too
 * many of all ids together. A worker that prints one slice of a buffer does not
 * know how many come before: it prints the first of each id there
 * (pfd_unsure_*), and the excess is cut once everything before is known
 * (pfd_unknown_limit_cut()).
 */

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
