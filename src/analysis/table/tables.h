/* SPDX-License-Identifier: MIT */
/* Internals: all tables of one run. */
#ifndef PFD_TABLES_H
#define PFD_TABLES_H

#include "analysis/table/group.h"
#include "analysis/table/schema.h"
#include "analysis/table/sorter.h"
#include "analysis/table/table_form.h"
#include "analysis/table/unique_names.h"
#include "core/base/dictionary.h"

struct pfd_one_table {
    char name[PFD_COLUMN_NAME];
    char *format; /* its format string, [n_format]; owned */
    size_t n_format;
    struct pfd_text waiting;  /* rows that are not written yet */
    struct pfd_range *blocks; /* [n_blocks]: the places of earlier rows in the
                                 spool; owned */
    size_t n_blocks;
    bool is_begun; /* its columns are known, and the following members set */
    struct pfd_schema schema;
    struct pfd_columns batch;
    size_t n_batch_bytes;      /* of rows in the current batch */
    struct pfd_group *group;   /* NULL: rows are not grouped */
    struct pfd_sorter *sorter; /* NULL: rows are not sorted */
    struct pfd_table_writer writer;
};

struct pfd_tables {
    struct pfd_table_spec spec;
    struct pfd_consumer consumer;
    const struct pfd_table_form *form;
    struct pfd_table_target table_target;
    void *file; /* the form's own */
    bool has_own_files;
    struct pfd_one_table **all; /* [n], by the number of its text; owned */
    size_t n;
    struct pfd_dictionary texts;
    struct pfd_one_table **by_string; /* [n_strings] */
    size_t n_strings;
    struct pfd_unique_names unique_names;
    char **sources; /* [n_sources]; owned */
    size_t n_sources;
    bool has_sources;            /* there is a column for them */
    bool *found;                 /* [spec.n_columns] */
    char known[PFD_COLUMN_LIST]; /* names of existing columns */
    size_t n_waiting;            /* bytes */
    struct pfd_table_target spool;
    bool has_spool;
    uint64_t n_spool; /* bytes in it */
    struct pfd_table_counts counts;
    struct pfd_error error;
};

#endif
