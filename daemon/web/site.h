/* SPDX-License-Identifier: MIT */
/* The files of the live page, daemon/web/, as they are compiled in. */
#ifndef PFDD_SITE_H
#define PFDD_SITE_H

#include <stddef.h>

struct pfdd_site_file {
    const char *path;           /* "/page.css"; NULL: after the last file */
    const char *type;           /* content type */
    const unsigned char *bytes; /* [n] */
    size_t n;
};

/* The Content-Security-Policy of these files: the page uses only its own files,
 * and no received text becomes markup or a script. */
extern const char pfdd_site_policy[];

/* "/" is index.html. NULL: there is no such file. */
const struct pfdd_site_file *pfdd_site_find(const char *path);

#endif
