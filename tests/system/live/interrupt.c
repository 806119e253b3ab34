/* SPDX-License-Identifier: MIT */
/* Preloaded: SIGINT comes as soon as a temporary folder is made. */
#include <dlfcn.h>
#include <signal.h>

typedef char *(*mkdtemp_fn)(char *);

char *mkdtemp(char *path);

__attribute__((visibility("default"))) char *mkdtemp(char *path)
{
    mkdtemp_fn next = (mkdtemp_fn)dlsym(RTLD_NEXT, "mkdtemp");
    char *ret = next ? next(path) : NULL;
    raise(SIGINT);
    return ret;
}
