/* SPDX-License-Identifier: MIT */
#include "screen.h"

#include <dlfcn.h>
#include <stdio.h>

const struct screen_class *screen_load(char *err, size_t n_err)
{
    if (!HAVE_VIEW) {
        snprintf(err, n_err,
                 "built without ncurses: install Debian's libncurses-dev and "
                 "build it again");
        return NULL;
    }
    /* dlopen() searches the program's run path. */
    void *module = dlopen("printfdecode-view.so", RTLD_NOW | RTLD_LOCAL);
    const void *ret = module ? dlsym(module, SCREEN_CLASS) : NULL;
    if (!ret)
        snprintf(err, n_err, "ncurses cannot be loaded: %s", dlerror());
    return ret;
}
