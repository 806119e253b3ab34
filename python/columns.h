/* SPDX-License-Identifier: MIT */
/*
 * Columns of a table in memory, shared by the objects that show them and by
 * consumers of Arrow, which may drop them on any thread. Knows no Python.
 */
#ifndef PYTHON_COLUMNS_H
#define PYTHON_COLUMNS_H

#include <stdatomic.h>

#include "analysis/table/table_form.h"

struct columns {
    atomic_size_t n_holders;
    char name[PFD_COLUMN_NAME];
    char *format; /* the format string, [n_format]; owned */
    size_t n_format;
    struct pfd_table_column *types; /* [n]; owned */
    struct pfd_columns all;
};

void columns_hold(struct columns *columns);
/* The last holder's call frees them. NULL is allowed. */
void columns_drop(struct columns *columns);

/* Tables as they are made; all zero to begin with. */
struct column_tables {
    struct columns **all; /* [n], each held once; owned */
    size_t n;
    bool failed;    /* out of memory */
    bool too_large; /* a column of texts above 2 GiB */
};

void column_tables_free(struct column_tables *tables);

/* A form of tables that keeps them: the target's write_user is a struct
 * column_tables. */
extern const struct pfd_table_form columns_form;

#endif
