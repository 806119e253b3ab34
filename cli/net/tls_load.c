/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>

#include "tls.h"

#if HAVE_TLS

const struct tls_class *tls_load(char *err, size_t n_err)
{
    /* dlopen() searches the program's run path. */
    void *module = dlopen("printfdecode-tls.so", RTLD_NOW | RTLD_LOCAL);
    const struct tls_class *tls = module ? dlsym(module, TLS_CLASS) : NULL;
    if (!tls)
        snprintf(err, n_err, "TLS cannot be loaded: %s", dlerror());
    return tls;
}

#else

const struct tls_class *tls_load(char *err, size_t n_err)
{
    snprintf(err, n_err,
             "built without TLS: install Debian's libssl-dev and build it "
             "again");
    return NULL;
}

#endif
