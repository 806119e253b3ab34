/* SPDX-License-Identifier: MIT */
/* SQLite's library, loaded on demand: few runs need it, and it is large. */
#ifndef PFD_SQLITE_H
#define PFD_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "core/base/error.h"

#define PFD_SQLITE_CALLS(X) \
    X(open_v2)              \
    X(close)                \
    X(db_config)            \
    X(exec)                 \
    X(errmsg)               \
    X(prepare_v2)           \
    X(step)                 \
    X(reset)                \
    X(finalize)             \
    X(bind_null)            \
    X(bind_int64)           \
    X(bind_double)          \
    X(bind_text)            \
    X(bind_blob)            \
    X(limit)

struct pfd_sqlite {
#define PFD_X(name) __typeof__(sqlite3_##name) *name;
    PFD_SQLITE_CALLS(PFD_X)
#undef PFD_X
};

extern struct pfd_sqlite pfd_sqlite;

/* Disables triggers and views and distrusts the schema: another program may
 * have written to the file, or put files beside it from which SQLite recovers.
 * config: sqlite3_db_config(). False: sqlite3_errmsg() says why not. */
static inline bool pfd_sqlite_distrust(sqlite3 *db,
                                       __typeof__(sqlite3_db_config) *config)
{
    static const struct {
        int option;
        int value;
    } options[] = { { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
                    { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
                    { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
                    { SQLITE_DBCONFIG_DEFENSIVE, 1 } };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (config(db, options[i].option, options[i].value, NULL) != SQLITE_OK)
            return false;
    }
    return true;
}

/* Call it first. PFD_OK; PFD_ERR_UNSUPPORTED: it cannot be loaded. */
enum pfd_status pfd_sqlite_load(struct pfd_error *err);

#endif
