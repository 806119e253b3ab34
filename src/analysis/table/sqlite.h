/* SPDX-License-Identifier: MIT */
/* SQLite's library, loaded on demand: few runs need it, and it is large. */
#ifndef PFD_SQLITE_H
#define PFD_SQLITE_H

#include <sqlite3.h>

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

/* Call it first. PFD_OK; PFD_ERR_UNSUPPORTED: it cannot be loaded. */
enum pfd_status pfd_sqlite_load(struct pfd_error *err);

#endif
