/* SPDX-License-Identifier: MIT */
/* Bytes in gzip's format. Any thread. */
#ifndef PFDD_GZIP_H
#define PFDD_GZIP_H

#include <stddef.h>

/* Of bytes [n]: [*n_ret], allocated; NULL: out of memory. */
char *pfdd_gzip(const void *bytes, size_t n, size_t *n_ret);

#endif
