/* SPDX-License-Identifier: MIT */
/*
 * What two runs, A and B, print differently: their entries as multisets by
 * format string and arguments, in any order.
 *
 *   pfd_diff_new(); for each buffer of A, then of B: pfd_diff_begin(), then
 *   pfd_convert_*() with pfd_diff_consumer(); pfd_diff_end()
 *
 * Then the lines of examples: for each buffer with pfd_diff_examples(),
 * pfd_diff_begin(), then pfd_convert_*() of these entries with an output and the
 * same consumer. Last pfd_diff_write().
 *
 * Thread rule: one thread at a time.
 */
#ifndef PFD_DIFF_H
#define PFD_DIFF_H

#include <printfdecode/convert.h>

struct pfd_diff;
struct pfd_text;

enum pfd_diff_side {
    PFD_DIFF_A,
    PFD_DIFF_B,
    PFD_DIFF_SIDES
};

/* Borrowed until the diff is freed. */
struct pfd_diff_spec {
    const struct pfd_strings *strings[PFD_DIFF_SIDES];
    /* Entries of one format string that have equal values of these arguments or
     * origins [n_by] are pairs; `index` is the place in the buffer. */
    const char *const *by;
    size_t n_by;
    const char *const *ignored; /* arguments [n_ignored] that may differ */
    size_t n_ignored;
    /* Floats are alike up to this difference, or up to this share of the larger
     * of both. */
    double absolute;
    double relative;
    size_t n_bytes_max;  /* limit of memory, about; 0: 1 GiB */
    uint64_t n_examples; /* of each format string and kind */
};

/* PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_diff_new(const struct pfd_diff_spec *spec,
                             struct pfd_diff **ret, struct pfd_error *err);

/* NULL is allowed. */
void pfd_diff_free(struct pfd_diff *diff);

/* The entries that follow are of this buffer of a side. */
void pfd_diff_begin(struct pfd_diff *diff, enum pfd_diff_side side,
                    uint32_t buffer);

/* For pfd_convert.consumer; owned by the diff. It stops at the limit of memory;
 * pfd_diff_end() says so. */
const struct pfd_consumer *pfd_diff_consumer(const struct pfd_diff *diff);

/* A pfd_finding_fn: counts the findings of the side's data. user: the diff,
 * whose side is that of the last pfd_diff_begin(). */
void pfd_diff_add_finding(void *user, const struct pfd_finding *finding);

/* The sum over a side's buffers. */
void pfd_diff_set_summary(struct pfd_diff *diff, enum pfd_diff_side side,
                          const struct pfd_summary *summary);

/* Compares. PFD_OK; PFD_ERR_USAGE: no entry has an argument of spec->by or
 * spec->ignored; PFD_ERR_UNSUPPORTED: the limit of memory; PFD_ERR_NOMEM. */
enum pfd_status pfd_diff_end(struct pfd_diff *diff, struct pfd_error *err);

/* After pfd_diff_end(): is nothing different? */
bool pfd_diff_is_equal(const struct pfd_diff *diff);

/* Likewise: the entries of a buffer whose lines are wanted, [*n] in order. Owned
 * by the diff, until the next call. NULL: out of memory. */
const struct pfd_range *pfd_diff_examples(struct pfd_diff *diff,
                                          enum pfd_diff_side side,
                                          uint32_t buffer, size_t *n);

/* Appends the result, as JSON or as text for a terminal. PFD_OK;
 * PFD_ERR_NOMEM. */
enum pfd_status pfd_diff_write(struct pfd_diff *diff, bool is_json, bool color,
                               struct pfd_text *out);

#endif
