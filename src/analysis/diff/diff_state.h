/* SPDX-License-Identifier: MIT */
/* Internals: a comparison of two runs. */
#ifndef PFD_DIFF_STATE_H
#define PFD_DIFF_STATE_H

#include "analysis/collapse/value_range.h"
#include "analysis/diff/diff.h"
#include "analysis/diff/entry_set.h"
#include "analysis/table/column.h"
#include "core/base/dictionary.h"

/* The difference B - A of two values. */
struct pfd_delta {
    double number; /* of floats */
    bool is_negative;
    uint64_t size; /* of integers */
};

/* One argument of a format string. */
struct pfd_diff_argument {
    char name[PFD_COLUMN_NAME];
    char conversion;
    uint8_t n_bytes; /* of the widest float */
    bool is_first;   /* of a list: its name works without ".x" */
    bool is_ignored;
    /* Of entries that one side has alone: their values, and a sum by which equal
     * values in another order are seen. */
    struct pfd_value_range values[PFD_DIFF_SIDES];
    uint64_t sums[PFD_DIFF_SIDES];
    uint64_t n_changed; /* pairs in which it differs, */
    uint64_t n_close;   /* and in which it differs by no more than is allowed */
    bool has_delta;     /* of pairs: */
    struct pfd_delta least;
    struct pfd_delta greatest;
    uint8_t type; /* of the deltas */
};

/* The place of a value by which entries are paired: it is no argument. */
#define PFD_DIFF_ORIGIN UINT32_MAX

/* A side has no such entry. */
#define PFD_DIFF_NO_PLACE UINT64_MAX

/* A format string, or an unknown id. */
struct pfd_diff_string {
    const char *text; /* [n_text], owned */
    size_t n_text;
    bool is_unknown;
    uint64_t id;
    struct pfd_diff_argument *arguments; /* [n_arguments], owned */
    size_t n_arguments;
    uint32_t *by;   /* [spec.n_by]: the argument, or PFD_DIFF_ORIGIN; owned */
    uint32_t shape; /* of its last entry */
    bool has_shape;
    uint64_t n[PFD_DIFF_SIDES];
    uint64_t n_equal;
    uint64_t n_close;   /* pairs that differ by no more than is allowed */
    uint64_t n_changed; /* pairs that differ */
    uint64_t n_keys;    /* that are not unique */
    uint64_t n_keyless; /* entries without a value to pair them by */
    uint64_t only[PFD_DIFF_SIDES];
    uint64_t n_examples[PFD_DIFF_SIDES + 1]; /* of each side, and of pairs */
};

/* Some entries whose lines are shown. */
struct pfd_diff_example {
    uint32_t string;
    uint64_t places[PFD_DIFF_SIDES]; /* or PFD_DIFF_NO_PLACE */
};

/* A line that came for an example. */
struct pfd_diff_line {
    uint64_t place;
    size_t at; /* in the texts */
    size_t n;  /* 0: it has not come */
};

/* The lines of all examples. */
struct pfd_diff_lines {
    struct pfd_text of[PFD_DIFF_SIDES]; /* struct pfd_diff_line, by place */
    struct pfd_text texts;
    struct pfd_text ranges; /* struct pfd_range: of one buffer */
};

struct pfd_diff {
    struct pfd_diff_spec spec;
    struct pfd_consumer consumer;
    enum pfd_diff_side side;
    uint32_t buffer;
    bool is_over; /* lines of examples come */
    bool is_full; /* the limit of memory was met */
    bool failed;  /* out of memory */
    uint64_t seed;
    struct pfd_dictionary keys;      /* of format strings and unknown ids */
    struct pfd_diff_string *strings; /* [n_strings] of [strings_room], by their
                                        number in keys; owned */
    size_t n_strings;
    size_t strings_room;
    size_t n_string_bytes;              /* of what they own */
    uint32_t *by_index[PFD_DIFF_SIDES]; /* their number + 1; owned */
    size_t n_by_index[PFD_DIFF_SIDES];
    struct pfd_dictionary shapes; /* what entries have beside values */
    struct pfd_dictionary texts;  /* of arguments */
    struct pfd_entry_set entries;
    struct pfd_text values;      /* of the entry at hand */
    struct pfd_text shape;       /* likewise */
    bool *by_found;              /* [spec.n_by]; owned */
    bool *ignored_found;         /* [spec.n_ignored]; owned */
    struct pfd_dictionary names; /* of arguments and origins */
    uint64_t findings[PFD_DIFF_SIDES][PFD_N_FINDING_KINDS];
    struct pfd_summary summary[PFD_DIFF_SIDES];
    struct pfd_value_range_limit range_limit;
    struct pfd_text examples; /* struct pfd_diff_example */
    struct pfd_diff_lines lines;
};

/* What entries of one form have in common: this, and a type for each value,
 * [n] enum pfd_argument_type or PFD_CELL_ABSENT; arguments, then spec.n_by values
 * to pair by that are origins. */
struct pfd_diff_shape {
    uint64_t findings; /* without notes */
    uint32_t string;
    uint32_t n;
    uint32_t stream;
    uint32_t spare;
};

/* Copies shape i; types: [ret->n]. */
struct pfd_diff_shape pfd_diff_shape_get(const struct pfd_diff *diff,
                                         uint32_t i, const uint8_t **types);

/* diff_entry.c: the entry's shape and values go to diff->shape and values; its
 * string. NULL: out of memory. */
struct pfd_diff_string *pfd_diff_read_row(struct pfd_diff *diff,
                                          const struct pfd_row *row,
                                          uint32_t *shape);

/* diff_match.c: counts equal entries, pairs the others, and chooses examples. */
void pfd_diff_match(struct pfd_diff *diff);

/* diff_argument.c */

/* Are both values alike? close: they are by tolerance only. */
bool pfd_diff_is_alike(const struct pfd_diff *diff, uint8_t type, uint64_t a,
                       uint64_t b, bool *close);
/* Adds a pair's values of an argument that differ. */
void pfd_diff_add_delta(struct pfd_diff_argument *argument, uint8_t type,
                        uint64_t a, uint64_t b);
/* Adds a value that n entries of one side have alone. */
void pfd_diff_add_value(struct pfd_diff *diff,
                        struct pfd_diff_argument *argument,
                        enum pfd_diff_side side, uint8_t type, uint64_t value,
                        uint64_t n);

/* The example's line; n: 0 if it has none. */
const char *pfd_diff_line(const struct pfd_diff *diff, enum pfd_diff_side side,
                          uint64_t place, size_t *n);

#endif
