/* SPDX-License-Identifier: MIT */
/*
 * Notes as rows of a database: a value for each of these columns, made by the
 * workers that make notes, and read by whoever binds them to a statement. Any
 * thread.
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
    const char *at; /* [n], borrowed from the note */
    size_t n;
};

enum {
    PFDD_ROW_COLUMNS = 14
};

/* The number of the row itself is none of them. */
struct pfdd_row_column {
    const char *name; /* the word that our JSON has for it */
    const char *type; /* of SQL */
};
extern const struct pfdd_row_column pfdd_row_columns[PFDD_ROW_COLUMNS];

extern const struct pfdd_encoding pfdd_row_encoding;

/* The value at bytes [n], of what the encoding made; returns how many it has. */
size_t pfdd_row_value(const char *bytes, size_t n, struct pfdd_value *ret);

#endif
