/* SPDX-License-Identifier: MIT */
/*
 * The columns of a table: derived from its first rows, chosen and renamed by
 * the caller. Names are valid and unique, whatever names format strings give
 * their arguments. Also fills batches of those columns from rows.
 */
#ifndef PFD_SCHEMA_H
#define PFD_SCHEMA_H

#include "analysis/table/column.h"
#include "core/strings/strings.h"

struct pfd_schema {
    struct pfd_table_column *columns; /* [n]; owned */
    size_t n;
    size_t n_arguments; /* known arguments of rows */
    bool leaves_out;    /* columns were chosen: missing others are no loss */
};

/* The caller's choice, and facts beyond the rows. */
struct pfd_schema_spec {
    const struct pfd_strings *strings;
    const char *const *chosen; /* [n_chosen], as NAME or NAME=NEW; NULL: all */
    size_t n_chosen;
    bool *found; /* [n_chosen]: set where the column exists */
    char *known; /* [PFD_COLUMN_LIST], "": set to the existing columns if a
                    chosen one is missing */
    bool has_sources;
    bool has_messages;
};

/* Derives the columns of rows, [n] bytes, which are of one format string.
 * False: out of memory; *ret still has to be deinited. */
bool pfd_schema_init(struct pfd_schema *ret, const struct pfd_schema_spec *spec,
                     const void *rows, size_t n);
void pfd_schema_deinit(struct pfd_schema *schema);

/* Adds the rows in [n] bytes to a batch. source: the buffer of the rows. */
void pfd_schema_fill(const struct pfd_schema *schema, struct pfd_columns *to,
                     const struct pfd_row *row, const char *source,
                     struct pfd_table_counts *counts);

/* Makes a name printable, valid UTF-8, not empty, and no longer than a
 * column's. */
void pfd_name_clean(char *ret, size_t room, const char *name, size_t n);

#endif
