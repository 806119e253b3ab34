/* SPDX-License-Identifier: MIT */
/* The files of the live page, daemon/web/, as they were built in. */
#ifndef PFDD_SITE_H
#define PFDD_SITE_H

#include <stddef.h>

struct pfdd_site_file {
    const char *path;           /* "/page.css"; NULL: behind the last one */
    const char *type;           /* of its content */
    const unsigned char *bytes; /* [n] */
    size_t n;
};

/* What of these the page may do: all that it uses is here, and no text that
 * comes in ever becomes markup or a script. */
extern const char pfdd_site_policy[];

/* "/" is index.html. NULL: there is none. */
const struct pfdd_site_file *pfdd_site_find(const char *path);

#endif
