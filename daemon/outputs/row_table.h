/* SPDX-License-Identifier: MIT */
/*
 * Notes that have been made as rows (database_rows.h), as a table that SQLite reads: so
 * one statement inserts all of a transaction's, which takes it half the time
 * that one for each row would. A statement's thread.
 */
#ifndef PFDD_ROW_TABLE_H
#define PFDD_ROW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;

/* The name that statements have for it; none in the file stands before it. Its
 * columns: "row", then those of database_rows.h. */
#define PFDD_ROW_TABLE "temp.notes"

/* Set before a statement runs, and as far as it came when it has ended. */
struct pfdd_row_source {
    const char *notes; /* [n], whole ones, borrowed */
    size_t n;
    uint64_t row;      /* the number of the row before; then of the last one */
    uint64_t n_rows;   /* that were read */
    uint64_t sequence; /* of the last one, if there is one */
    uint64_t time;     /* likewise */
};

/* The source is borrowed for as long as the database is open. False: SQLite says
 * why. */
bool pfdd_row_table_add(struct sqlite3 *db, struct pfdd_row_source *source);

#endif
