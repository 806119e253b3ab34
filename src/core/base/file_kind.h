/* SPDX-License-Identifier: MIT */
/*
 * Recognizes well-known file types that are no buffers by their first bytes.
 */
#ifndef PFD_FILE_KIND_H
#define PFD_FILE_KIND_H

#include <stddef.h>

struct pfd_file_kind {
    const char *name;   /* with its article: "a tar archive" */
    const char *advice; /* a hint for the user */
};

/* Bytes that tell every kind: those of a tar archive. */
enum {
    PFD_FILE_KIND_BYTES = 257 + sizeof "ustar" - 1
};

/* The kind of a file with these first bytes [n], of PFD_FILE_KIND_BYTES if the
 * file has so many. NULL: unknown. Static storage, any thread. */
const struct pfd_file_kind *pfd_file_kind_of(const void *bytes, size_t n);

/* Of a kind whose first bytes are four or more that no buffer has by chance;
 * NULL: of no such kind. */
const struct pfd_file_kind *pfd_file_kind_sure(const void *bytes, size_t n);

#endif
