/* SPDX-License-Identifier: MIT */
/*
 * Which columns a table has: told from its first rows, chosen and renamed by
 * whoever asks. Names are valid and unique, whatever format strings call their
 * arguments. Then rows to batches of those columns.
 */
#ifndef PFD_SCHEMA_H
#define PFD_SCHEMA_H

#include "analysis/table/column.h"
#include "core/strings/strings.h"

struct pfd_schema {
    struct pfd_table_column *columns; /* [n]; owned */
    size_t n;
    size_t n_arguments; /* that rows are known to have */
    bool leaves_out;    /* columns were chosen: others are not missed */
};

/* What is known beside the rows. */
struct pfd_schema_spec {
    const struct pfd_strings *strings;
    const char *const *chosen; /* [n_chosen], as NAME or NAME=NEW; NULL: all */
    size_t n_chosen;
    bool *found; /* [n_chosen]: set where there is such a column */
    char *known; /* [PFD_COLUMN_LIST], "": which columns there are, set where
                    one that is chosen is not */
    bool has_sources;
    bool has_messages;
};

/* The columns of rows [n] bytes, which are of one format string. False when out
 * of memory; to be deinited all the same. */
bool pfd_schema_init(struct pfd_schema *ret, const struct pfd_schema_spec *spec,
                     const void *rows, size_t n);
void pfd_schema_deinit(struct pfd_schema *schema);

/* Adds the rows in [n] bytes to a batch. source: the buffer that they are of. */
void pfd_schema_fill(const struct pfd_schema *schema, struct pfd_columns *to,
                     const struct pfd_row *row, const char *source,
                     struct pfd_table_counts *counts);

/* Makes a name printable UTF-8 that is not empty and no longer than a column's
 * may be. */
void pfd_name_clean(char *ret, size_t room, const char *name, size_t n);

#endif
