/* SPDX-License-Identifier: MIT */
/* Internals: what the forms of a result have in common. */
#ifndef PFD_DIFF_FORM_H
#define PFD_DIFF_FORM_H

#include "analysis/diff/diff_state.h"

/* The examples of a format string. */
struct pfd_diff_examples {
    const struct pfd_diff_example *all; /* [n] */
    size_t n;
};

/* Sums over all format strings. */
struct pfd_diff_totals {
    uint64_t n[PFD_DIFF_SIDES];
    uint64_t n_equal;
    uint64_t n_close;
    uint64_t n_changed;
    uint64_t only[PFD_DIFF_SIDES];
    uint64_t n_strings;   /* format strings, */
    uint64_t n_different; /* and those whose entries differ */
};

/* Examples lie in the order of format strings once pfd_diff_write() begins. */
struct pfd_diff_examples pfd_diff_examples_of(const struct pfd_diff *diff,
                                              uint32_t string);
struct pfd_diff_totals pfd_diff_totals(const struct pfd_diff *diff);
bool pfd_diff_is_worth_a_line(const struct pfd_diff_string *string);

/* The index that a place has in its buffer. */
uint64_t pfd_diff_index(uint64_t place);

/* Appends the number. */
void pfd_delta_add(struct pfd_text *out,
                   const struct pfd_diff_argument *argument,
                   const struct pfd_delta *delta);

void pfd_diff_add_text(const struct pfd_diff *diff, bool color,
                       struct pfd_text *out);
void pfd_diff_add_json(const struct pfd_diff *diff, struct pfd_text *out);

#endif
