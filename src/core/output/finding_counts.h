/* SPDX-License-Identifier: MIT */
/*
 * Findings about entries, counted by kind, id and string: a wrong code object
 * makes one for every entry, and they say the same. Keeps the first of each, in the order
 * in which they came; of more than so many, how many there were of a kind.
 */
#ifndef PFD_FINDING_COUNTS_H
#define PFD_FINDING_COUNTS_H

#include <printfdecode/common.h>

#include "core/base/text.h"

struct pfd_finding_counts_row {
    uint64_t id;
    uint64_t string; /* which of the id's, as its number; else UINT64_MAX */
    uint64_t count;
    uint64_t offset; /* of the first */
    uint64_t index;
    size_t
        text; /* place of its sentence, NUL-terminated, in pfd_finding_counts.text */
    enum pfd_finding_kind kind;
    bool has_text;
};

struct pfd_finding_counts {
    struct pfd_finding_counts_row *rows; /* [n] of [room]; owned */
    size_t n;
    size_t room;
    size_t max;      /* rows; 0: any number */
    uint32_t *slots; /* [n_slots], a power of two: row + 1, 0 is free; owned */
    size_t n_slots;
    struct pfd_finding_counts_row
        rest[PFD_ENTRY_FINDING_KINDS]; /* beyond max */
    struct pfd_text text;
    bool failed; /* out of memory */
};

void pfd_finding_counts_free(struct pfd_finding_counts *finding_counts);
void pfd_finding_counts_clear(struct pfd_finding_counts *finding_counts);

/*
 * The row of a kind and an id and, where an id has several strings, one of them;
 * made if it is not there: new ones have count 0. NULL when out of memory. Where
 * there are too many, that of the kind's rest.
 */
struct pfd_finding_counts_row *pfd_finding_counts_row(
    struct pfd_finding_counts *finding_counts, enum pfd_finding_kind kind,
    uint64_t id, uint64_t string);

/* Counts n more in a row; offset and index: of the first of them. */
void pfd_finding_counts_count(struct pfd_finding_counts_row *row, uint64_t n,
                              uint64_t offset, uint64_t index);

/* The row's sentence, copied. */
void pfd_finding_counts_set_text(struct pfd_finding_counts *finding_counts,
                                 struct pfd_finding_counts_row *row,
                                 const char *text);

/* Adds what a later one has. */
void pfd_finding_counts_merge(struct pfd_finding_counts *to,
                              const struct pfd_finding_counts *from);

/*
 * Row i as a finding, with its sentence and how many there are in text (which is
 * overwritten). False: there is no row i.
 */
bool pfd_finding_counts_finding(const struct pfd_finding_counts *finding_counts,
                                size_t i, const char *source,
                                struct pfd_text *text, struct pfd_finding *ret);

#endif
