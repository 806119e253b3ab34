/* SPDX-License-Identifier: MIT */
#include "analysis/table/sqlite.h"

#include "core/base/dynamic_library.h"

#define NAME(name) "sqlite3_" #name "\0"

struct pfd_sqlite pfd_sqlite;

PFD_DYNAMIC_LIBRARY(sqlite, "libsqlite3.so.0", PFD_SQLITE_CALLS(NAME),
                    &pfd_sqlite, "databases");

enum pfd_status pfd_sqlite_load(struct pfd_error *err)
{
    return pfd_dynamic_library_load(&pfd_library_sqlite, err);
}
