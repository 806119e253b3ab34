/* SPDX-License-Identifier: MIT */
/* Numbers that the command line gives a shader or a kernel. */
#ifndef RUNNERS_ARGUMENT_H
#define RUNNERS_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>

enum {
    ARGUMENT_BYTES_MAX = 128 /* sixteen of eight bytes */
};

struct argument_type {
    char kind;     /* 'i' signed, 'u' unsigned, 'f' floating point; 0: none */
    unsigned size; /* bytes of one: 1, 2, 4 or 8; of 'f' 4 or 8 */
    unsigned n;    /* components, 16 at most */
};

/* "5", "-1,2" or "0.5,1,2" into ret [n * size]. False: it is not that many
 * numbers of that type. */
bool argument_read(const char *text, const struct argument_type *type,
                   void *ret);

/* A number of bytes, from 1 to 2^30. */
bool argument_bytes(const char *text, size_t *ret);

#endif
