/* SPDX-License-Identifier: MIT */
/*
 * Tables: the arguments of entries as columns with true types, a table for each
 * format string, written in a form that other programs read.
 *
 *   pfd_tables_new(), then pfd_convert_*() with pfd_tables_consumer()
 *   for each buffer, then pfd_tables_end()
 *
 * Thread rule: tables belong to one thread at a time.
 */
#ifndef PFD_TABLE_H
#define PFD_TABLE_H

#include <printfdecode/convert.h>

/* The type of a column's values. */
enum pfd_value_type {
    PFD_VALUE_INT,
    PFD_VALUE_UNSIGNED,
    PFD_VALUE_FLOAT, /* of 2, 4 or 8 bytes: IEEE binary16, 32, 64 */
    PFD_VALUE_TEXT,
    PFD_VALUE_TIME, /* nanoseconds since 1970, 8 bytes */
};

/* A form that tables are written in; static storage. */
struct pfd_table_output {
    const char *name;     /* "csv" */
    const char *title;    /* one line */
    const char *suffixes; /* of files, with blanks between: ".npy .npz" */
    bool wants_file;      /* cannot be written to a pipe */
    bool holds_all;       /* one file may have several tables */
};

/* Outputs by number. PFD_OK; PFD_END: there is no i. Any thread. */
enum pfd_status pfd_table_output_get(size_t i, struct pfd_table_output *ret);

struct pfd_table_form;

/* The tables that are wanted; borrowed until the tables are freed. */
struct pfd_table_spec {
    const struct pfd_strings *strings;
    const char *output; /* a name of pfd_table_output_get(); NULL: text */
    /* Instead of an output: a form of the caller's own (table_form.h), which
     * finds write_user in its writer's target. */
    const struct pfd_table_form *form;
    /* Target: a file, made anew; with `all` and an output of one table per
     * file, a folder, made if it is missing. NULL: write. */
    const char *to;
    pfd_write_fn write;
    void *write_user;
    /* One table for each format string; else all rows must be of one. */
    bool all;
    /* Columns [n_columns] in this order, as NAME or NAME=NEW; none: all but
     * `offset`, `id` and `message`. */
    const char *const *columns;
    size_t n_columns;
    /* One row for all rows with equal values in these columns [n_group_by],
     * with aggregates [n_aggregates] of the other arguments: count, min, max,
     * mean, std, p50, p99, nan, first, last. Aggregates alone: one row for
     * all. */
    const char *const *group_by;
    size_t n_group_by;
    const char *const *aggregates;
    size_t n_aggregates;
    /* Sort by this column, with a - before it in descending order; NULL: as the
     * rows come. Nulls are last, and NaN before them. */
    const char *sort;
    uint64_t top; /* limit for rows; 0: all */
    size_t width; /* text: desired characters of a line; 0: any */
    /* May a file of the folder be written? Called for all files before the
     * first is written; false ends the call with PFD_ERR_STOPPED. NULL: all
     * may. */
    bool (*may_write)(void *user, const char *path);
    void *may_write_user;
};

/* Counts of written and of skipped data. */
struct pfd_table_counts {
    uint64_t tables;
    uint64_t rows;
    uint64_t unknown;   /* entries without a known format string: in no table */
    uint64_t others;    /* of other format strings than the one: in no table */
    uint64_t misfits;   /* values that do not fit their column: null there */
    uint64_t extra;     /* values without a column: left out */
    uint64_t escaped;   /* texts that are not UTF-8, where the output needs it:
                           their bad bytes are shown as \xNN */
    uint64_t ungrouped; /* rows of groups for which memory did not suffice */
    uint64_t sketched;  /* p50 and p99 that are not exact: the error of their */
    double off;         /* rank is at most this, as a share of all */
    uint64_t long_head; /* bytes of an npy file's header, if NumPy reads it only
                           with max_header_size */
    uint64_t findings;  /* rows of entries that have findings (not notes) */
    uint64_t raw;       /* texts that are not UTF-8, where the output holds
                           bytes: they are written as they are */
};

struct pfd_tables;

/* PFD_OK; PFD_ERR_USAGE: no such output, or it needs a file; PFD_ERR_IO: the
 * file cannot be made; PFD_ERR_NOMEM. */
enum pfd_status pfd_tables_new(const struct pfd_table_spec *spec,
                               struct pfd_tables **ret, struct pfd_error *err);

/* NULL is allowed. */
void pfd_tables_free(struct pfd_tables *tables);

/* Do the tables need messages? Then the conversion's output has to be "raw". */
bool pfd_tables_want_messages(const struct pfd_tables *tables);

/* The buffer of the rows that follow; name: copied. is_one: of several, so that
 * its name is worth a column. */
void pfd_tables_set_source(struct pfd_tables *tables, const char *name,
                           bool is_one);

/* For pfd_convert.consumer; the tables own it. It stops when they fail;
 * pfd_tables_end() says why. */
const struct pfd_consumer *pfd_tables_consumer(const struct pfd_tables *tables);

/*
 * Writes the rest. PFD_OK; PFD_ERR_USAGE: a column that no table has;
 * PFD_ERR_IO; PFD_ERR_STOPPED: write() returned false; PFD_ERR_NOMEM;
 * PFD_ERR_UNSUPPORTED: the output cannot hold it.
 */
enum pfd_status pfd_tables_end(struct pfd_tables *tables,
                               struct pfd_table_counts *counts,
                               struct pfd_error *err);

#endif
