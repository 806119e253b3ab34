/* SPDX-License-Identifier: MIT */
#include "core/base/dynamic_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* False: dlerror() says why. */
static bool load(const struct pfd_library *library)
{
    void *handle = dlopen(library->soname, RTLD_NOW | RTLD_LOCAL);
    char *to = library->calls;
    for (const char *name = library->names; handle && *name;
         name += strlen(name) + 1) {
        void *call = dlsym(handle, name);
        if (!call)
            return false;
        memcpy(to, &call, sizeof call);
        to += sizeof call;
    }
    return handle != NULL;
}

enum pfd_status pfd_library_load(struct pfd_library *library,
                                 struct pfd_error *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    enum pfd_status status = PFD_OK;
    if (atomic_load_explicit(&library->is_loaded, memory_order_acquire))
        return PFD_OK;
    pthread_mutex_lock(&mutex);
    if (!atomic_load_explicit(&library->is_loaded, memory_order_relaxed)) {
        bool ok = load(library);
        if (!ok) {
            status =
                pfd_fail(err, PFD_ERR_UNSUPPORTED, PFD_NO_OFFSET,
                         "%s cannot be loaded: %s", library->soname, dlerror());
        }
        atomic_store_explicit(&library->is_loaded, ok, memory_order_release);
    }
    pthread_mutex_unlock(&mutex);
    return status;
}
