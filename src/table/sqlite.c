/* SPDX-License-Identifier: MIT */
#include "table/sqlite.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

bool pfd_sqlite_load(struct pfd_sqlite *ret, const char **why)
{
    static const struct {
        const char *name;
        size_t at;
    } calls[] = {
#define PFD_X(name) { "sqlite3_" #name, offsetof(struct pfd_sqlite, name) },
        PFD_SQLITE_CALLS(PFD_X)
#undef PFD_X
    };
    *ret = (struct pfd_sqlite){ .library = dlopen("libsqlite3.so.0",
                                                  RTLD_NOW | RTLD_LOCAL) };
    bool ok = ret->library != NULL;
    for (size_t i = 0; ok && i < sizeof calls / sizeof *calls; i++) {
        void *call = dlsym(ret->library, calls[i].name);
        memcpy((char *)ret + calls[i].at, &call, sizeof call);
        ok = call != NULL;
    }
    if (!ok)
        *why = dlerror();
    return ok;
}

void pfd_sqlite_unload(struct pfd_sqlite *sqlite)
{
    if (sqlite->library)
        dlclose(sqlite->library);
    sqlite->library = NULL;
}
