/* SPDX-License-Identifier: MIT */
/* Counts of items that a reader does not get, and the record that says so. */
#ifndef PFDD_LEFT_OUT_H
#define PFDD_LEFT_OUT_H

#include <stddef.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>

struct pfd_filter;

struct pfdd_left_out {
    uint64_t entries;
    uint64_t findings; /* notes excluded: of these entries, and between them */
};

enum {
    /* Bytes of the record: its counts, and an error's text in JSON. */
    PFDD_LEFT_OUT_RECORD = 256 + 32 + 6 * sizeof((struct pfd_error){ 0 }.text),
};

/* Adds n_entries (0 or 1) and findings, a bit each. */
void pfdd_left_out_add(struct pfdd_left_out *to, uint64_t n_entries,
                       uint64_t findings);

/* Writes the record, without a newline; returns its length. filter: its
 * condition is checked against the strings and against what has come, and the
 * record says what is wrong with it; NULL: there is none. */
size_t pfdd_left_out_print(const struct pfdd_left_out *filtered,
                           const struct pfdd_left_out *sampled,
                           const struct pfd_filter *filter,
                           const struct pfd_strings *strings,
                           char ret[PFDD_LEFT_OUT_RECORD]);

#endif
