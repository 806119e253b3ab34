/* SPDX-License-Identifier: MIT */
/*
 * A SQLite database with rows (database_rows.h) in the table `messages`, in
 * order of arrival. The table `position` holds the position of the last row and
 * is written in the same transaction. The database uses a write-ahead log, so
 * that other processes can read it at any time. The oldest rows are removed
 * when the file exceeds its size or the rows their age.
 *
 * Any thread, one at a time. A failure closes the database and rolls back
 * uncommitted rows; `why` then holds the end of a sentence.
 */
#ifndef PFDD_DATABASE_H
#define PFDD_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "outputs/row_table.h"

enum {
    PFDD_DATABASE_WHY = 256,
    /* Approximate memory of an open database, in bytes. */
    PFDD_DATABASE_MEMORY = 3 << 20,
};

struct sqlite3;
struct sqlite3_stmt;

struct pfdd_database {
    /* Set by its owner. */
    const char *path;    /* borrowed */
    uint64_t n_max;      /* bytes of the file; 0: any number */
    uint64_t max_age_ns; /* 0: rows are not removed by age */
    bool is_durable;     /* commits are synced to the disk */
    /* Position of the last log record that was ever written; zeros: none. */
    uint64_t sequence;
    uint64_t time;
    char why[PFDD_DATABASE_WHY];
    /* Private. */
    struct sqlite3 *db; /* NULL: not open */
    uint64_t device;    /* of the open file */
    uint64_t inode;
    int64_t row; /* number of the last row */
    int64_t page_size;
    struct pfdd_row_source rows; /* being written */
    struct sqlite3_stmt *statements[7];
    bool is_set_up;   /* the checks of untrusted files are done */
    unsigned n_steps; /* of the current statement */
};

/* Creates the file if it does not exist. Does nothing if it is open and its
 * path still names it. False: it cannot be opened, or belongs to another
 * program. */
bool pfdd_database_open(struct pfdd_database *db);
void pfdd_database_close(struct pfdd_database *db);

/* One transaction: removes rows that are too old or too many, and inserts the
 * log records of notes [n], which holds whole records; *n_rows: how many. n may
 * be 0. False: nothing has changed. */
bool pfdd_database_write(struct pfdd_database *db, const char *notes, size_t n,
                         uint64_t *n_rows);

#endif
