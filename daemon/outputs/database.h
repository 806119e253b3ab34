/* SPDX-License-Identifier: MIT */
/*
 * A database of SQLite that rows (database_rows.h) are written to: the table `messages`,
 * in which they stand in the order in which they came, and `position`, which
 * says in the same transaction how far it has come. It has a write-ahead log, so
 * that others read it while it is written. The oldest rows go where it would
 * become larger, or they older, than they may.
 *
 * Any thread, one at a time. Where something fails it is closed, what was not
 * committed is as if it had never been, and `why` has a sentence's end.
 */
#ifndef PFDD_DATABASE_H
#define PFDD_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "outputs/row_table.h"

enum {
    PFDD_DATABASE_WHY = 256,
    /* Bytes of memory that one that is open takes, about. */
    PFDD_DATABASE_MEMORY = 3 << 20,
};

struct sqlite3;
struct sqlite3_stmt;

struct pfdd_database {
    /* Set by its owner. */
    const char *path;    /* borrowed */
    uint64_t n_max;      /* bytes of the file; 0: any number */
    uint64_t max_age_ns; /* 0: rows stay */
    bool is_durable;     /* what is committed is on the disk */
    /* Up to which note it has come, in all its life; zeros: nowhere yet. */
    uint64_t sequence;
    uint64_t time;
    char why[PFDD_DATABASE_WHY];
    /* Private. */
    struct sqlite3 *db; /* NULL: it is not open */
    uint64_t device;    /* of the file that is open */
    uint64_t inode;
    int64_t row; /* the last one's number */
    int64_t page_size;
    struct pfdd_row_source rows; /* that are being written */
    struct sqlite3_stmt *statements[7];
    bool is_set_up;   /* what others may have made has been looked at */
    unsigned n_steps; /* of the statement that runs */
};

/* Makes it, where there is none. False: it could not be opened, or is none of
 * ours. Nothing is done where it is open already and nobody has moved it away. */
bool pfdd_database_open(struct pfdd_database *db);
void pfdd_database_close(struct pfdd_database *db);

/* A transaction: what is too old or too much goes, and notes [n], whole ones,
 * come; *n_rows: so many. n may be 0. False: nothing was done. */
bool pfdd_database_write(struct pfdd_database *db, const char *notes, size_t n,
                         uint64_t *n_rows);

#endif
