/* SPDX-License-Identifier: MIT */
/*
 * The values of an argument over all entries of a run: integers as exact
 * ranges, floats as least and greatest, texts as the number of different ones.
 * All runs share a memory limit; beyond it a range becomes less exact, and its
 * text says so.
 */
#ifndef PFD_VALUE_RANGE_H
#define PFD_VALUE_RANGE_H

#include "core/output/value_rows.h"

/* Integers [from, to], in an order that fits their sign. */
struct pfd_value_range_interval {
    uint64_t from;
    uint64_t to;
};

/* The limit that all value ranges share. */
struct pfd_value_range_limit {
    size_t n; /* merged ranges and hashes */
    size_t max;
    bool failed; /* out of memory */
};

struct pfd_value_range {
    uint8_t type; /* enum pfd_argument_type */
    uint8_t n_bytes;
    char conversion;
    bool varies;
    bool is_mixed;  /* entries of one run differ in type: no range is written */
    bool is_cut;    /* more ranges, or different texts, than the limit allows */
    uint64_t first; /* bits of the first entry's value; of a text, its hash */
    uint64_t n;     /* floats: numbers; others: values */
    uint64_t n_nans;
    double least;
    double greatest;
    uint64_t low; /* of integers, if cut */
    uint64_t high;
    /* Ranges of integers; of texts, hashes in order (from). [n_ranges]; owned */
    struct pfd_value_range_interval *ranges;
    size_t n_ranges;
    uint64_t *pending; /* [n_news] of [news_room]: not merged yet; owned */
    size_t n_pending;
    size_t pending_room;
};

void pfd_value_range_begin(struct pfd_value_range *s, const struct pfd_row *row,
                           const struct pfd_cell *cell,
                           struct pfd_value_range_limit *room);
void pfd_value_range_add(struct pfd_value_range *s, const struct pfd_row *row,
                         const struct pfd_cell *cell,
                         struct pfd_value_range_limit *room);
/* Ends the adding, before the range is written. */
void pfd_value_range_end(struct pfd_value_range *s,
                         struct pfd_value_range_limit *room);
void pfd_value_range_free(struct pfd_value_range *s,
                          struct pfd_value_range_limit *room);

/* Appends "[0–31, 128–200]", "[0.25…0.75]", "[12 distinct]". */
void pfd_value_range_text(const struct pfd_value_range *s,
                          struct pfd_text *out);

/* Appends a JSON value: {"ranges":[[0,31],[128,200]]}, {"min":0.25,"max":0.75,
 * "count":105,"nan":0}, {"distinct":12}; null where nothing varies. */
void pfd_value_range_json(const struct pfd_value_range *s,
                          struct pfd_text *out);

#endif
