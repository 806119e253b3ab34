/* SPDX-License-Identifier: MIT */
#include "core/base/dynamic_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* False: dlerror() says why. */
static bool load(const struct pfd_dynamic_library *dynamic_library)
{
    void *handle = dlopen(dynamic_library->soname, RTLD_NOW | RTLD_LOCAL);
    char *to = dynamic_library->calls;
    for (const char *name = dynamic_library->names; handle && *name;
         name += strlen(name) + 1) {
        void *call = dlsym(handle, name);
        if (!call)
            return false;
        memcpy(to, &call, sizeof call);
        to += sizeof call;
    }
    return handle != NULL;
}

enum pfd_status pfd_dynamic_library_load(
    struct pfd_dynamic_library *dynamic_library, struct pfd_error *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    enum pfd_status status = PFD_OK;
    if (atomic_load_explicit(&dynamic_library->is_loaded, memory_order_acquire))
        return PFD_OK;
    pthread_mutex_lock(&mutex);
    if (!atomic_load_explicit(&dynamic_library->is_loaded,
                              memory_order_relaxed)) {
        bool ok = load(dynamic_library);
        if (!ok) {
            status = pfd_fail(err, PFD_ERR_UNSUPPORTED, PFD_NO_OFFSET,
                              "%s cannot be loaded: %s",
                              dynamic_library->soname, dlerror());
        }
        atomic_store_explicit(&dynamic_library->is_loaded, ok,
                              memory_order_release);
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

void pfd_libraries_load(void)
{
    for (size_t i = 0; pfd_libraries[i]; i++)
        (void)pfd_dynamic_library_load(pfd_libraries[i], NULL);
}
