/* SPDX-License-Identifier: MIT */
/* Compresses in gzip's format. Any thread. */
#ifndef PFDD_GZIP_H
#define PFDD_GZIP_H

#include <stddef.h>

/* Compresses bytes [n] to [*n_ret], allocated; NULL: out of memory. */
char *pfdd_gzip(const void *bytes, size_t n, size_t *n_ret);

#endif
