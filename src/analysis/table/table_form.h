/* SPDX-License-Identifier: MIT */
/*
 * A form that tables are written in.
 *
 * To add one: src/analysis/table/form_NAME.c with `const struct pfd_table_form
 * pfd_table_form_NAME`, and one word in src/meson.build.
 */
#ifndef PFD_TABLE_TABLE_FORM_H
#define PFD_TABLE_TABLE_FORM_H

#include "analysis/table/column.h"
#include "analysis/table/table_target.h"

/* A table that is being written. */
struct pfd_table_writer {
    const char *name; /* of the table: valid and unique */
    /* The format string, or "" with n_format 0. */
    const char *format;
    size_t n_format;
    const struct pfd_table_column *columns; /* [n_columns] */
    size_t n_columns;
    size_t n_tables; /* number of tables in all; 0: unknown */
    size_t width;    /* characters of a line; 0: unlimited */
    struct pfd_table_target *table_target;
    struct pfd_table_counts *counts;
    void *state; /* the form's own, [state_size], zero at first */
    void *file;  /* likewise, shared by all tables of a target, [file_size] */
};

/*
 * For each table: begin, batch for each batch, end. Errors are in
 * target->error. open and close, if the form has them, are called before and
 * after all tables of a target; end and close are also called after a failure.
 */
struct pfd_table_form {
    struct pfd_table_output info;
    size_t state_size;
    size_t file_size;
    const char *taken;   /* a name that its tables cannot have; NULL: none */
    const char *prefix;  /* prefix of such names, likewise */
    bool wants_messages; /* the message of each entry is a column, too */
    void (*open)(struct pfd_table_writer *w);
    void (*begin)(struct pfd_table_writer *w);
    void (*batch)(struct pfd_table_writer *w, const struct pfd_columns *batch);
    void (*end)(struct pfd_table_writer *w);
    void (*close)(struct pfd_table_writer *w);
};

/* NULL at the end; written by meson. */
extern const struct pfd_table_form *const pfd_table_forms[];

/* Appends text [n] as UTF-8 to ret: invalid bytes become \xNN. True: there were
 * some. */
bool pfd_table_utf8(struct pfd_text *ret, const char *text, size_t n);

/* Is it UTF-8, and without NUL, which ends texts for many readers? */
bool pfd_table_is_plain_utf8(const char *text, size_t n);

#endif
