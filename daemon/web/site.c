/* SPDX-License-Identifier: MIT */
#include "web/site.h"

#include <string.h>

/* In a file that make_site.sh generates. */
extern const struct pfdd_site_file pfdd_site_files[];

const char pfdd_site_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'";

const struct pfdd_site_file *pfdd_site_find(const char *path)
{
    const char *name = strcmp(path, "/") ? path : "/index.html";
    for (const struct pfdd_site_file *f = pfdd_site_files; f->path; f++) {
        if (!strcmp(name, f->path))
            return f;
    }
    return NULL;
}
