/* SPDX-License-Identifier: MIT */
/*
 * Log records as rows of a database: one value for each of these columns.
 * Workers encode the rows; row_table.h reads them for SQLite. Any thread.
 */
#ifndef PFDD_DATABASE_ROWS_H
#define PFDD_DATABASE_ROWS_H

#include "ring/log_record.h"

enum pfdd_value_kind {
    PFDD_VALUE_NULL,
    PFDD_VALUE_INTEGER,
    PFDD_VALUE_TEXT, /* UTF-8, without NUL */
    PFDD_VALUE_BYTES,
};

struct pfdd_value {
    enum pfdd_value_kind kind;
    int64_t number;
    const char *at; /* [n], borrowed from the log record */
    size_t n;
};

enum {
    PFDD_ROW_COLUMNS = 14
};

/* The columns, without the row's number. */
struct pfdd_row_column {
    const char *name; /* as in the daemon's JSON */
    const char *type; /* SQL type */
};
extern const struct pfdd_row_column pfdd_row_columns[PFDD_ROW_COLUMNS];

extern const struct pfdd_encoding pfdd_row_encoding;

/* Parses the value at the start of bytes [n], which the encoding wrote; returns
 * its size. */
size_t pfdd_row_value(const char *bytes, size_t n, struct pfdd_value *ret);

#endif
