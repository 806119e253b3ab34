/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>

#include "nats.h"
#include "tls.h"

/* The symbol of a module. NULL: err [n_err] holds the error. */
static const void *load(const char *file, const char *symbol, const char *what,
                        char *err, size_t n_err)
{
    /* dlopen() searches the program's run path. */
    void *module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const void *ret = module ? dlsym(module, symbol) : NULL;
    if (!ret)
        snprintf(err, n_err, "%s cannot be loaded: %s", what, dlerror());
    return ret;
}

const struct tls_class *tls_load(char *err, size_t n_err)
{
    if (HAVE_TLS)
        return load("printfdecode-tls.so", TLS_CLASS, "TLS", err, n_err);
    snprintf(err, n_err,
             "built without TLS: install Debian's libssl-dev and build it "
             "again");
    return NULL;
}

const struct nats_class *nats_load(char *err, size_t n_err)
{
    if (HAVE_NATS)
        return load("printfdecode-nats.so", NATS_CLASS, "NATS", err, n_err);
    snprintf(err, n_err,
             "built without NATS: install Debian's libnats-dev and libssl-dev "
             "and build it again");
    return NULL;
}
