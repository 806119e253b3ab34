/* SPDX-License-Identifier: MIT */
/*
 * A virtual table of SQLite over log records that are encoded as rows
 * (database_rows.h). One statement inserts all rows of a transaction, in half
 * the time that a statement for each row takes. On the thread that runs the
 * statement.
 */
#ifndef PFDD_ROW_TABLE_H
#define PFDD_ROW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;

/* The table's name in statements; no table of the file can hide it. Its
 * columns: "row", then those of database_rows.h. */
#define PFDD_ROW_TABLE "temp.notes"

/* Set before a statement runs; updated to the last row that it has read. */
struct pfdd_row_source {
    const char *notes; /* [n], whole log records, borrowed */
    size_t n;
    uint64_t row;      /* number of the row before; then of the last row */
    uint64_t n_rows;   /* that were read */
    uint64_t sequence; /* of the last row, if there is one */
    uint64_t time;     /* likewise */
};

/* The source is borrowed while the database is open. False: SQLite has the
 * error. */
bool pfdd_row_table_add(struct sqlite3 *db, struct pfdd_row_source *source);

#endif
