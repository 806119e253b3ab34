/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>

#include "nats.h"

#if HAVE_NATS

const struct nats_class *nats_load(char *err, size_t n_err)
{
    /* dlopen() searches the program's run path. */
    void *module = dlopen("printfdecode-nats.so", RTLD_NOW | RTLD_LOCAL);
    const struct nats_class *nats = module ? dlsym(module, NATS_CLASS) : NULL;
    if (!nats)
        snprintf(err, n_err, "NATS cannot be loaded: %s", dlerror());
    return nats;
}

#else

const struct nats_class *nats_load(char *err, size_t n_err)
{
    snprintf(err, n_err,
             "built without NATS: install Debian's libnats-dev and libssl-dev "
             "and build it again");
    return NULL;
}

#endif
