/* SPDX-License-Identifier: MIT */
/* What a file of a watched folder is, by its first bytes. */
#ifndef PFDD_FILE_CONTENT_H
#define PFDD_FILE_CONTENT_H

#include <stddef.h>

enum {
    PFDD_CONTENT_HEAD = 8, /* bytes that decide */
};

enum pfdd_file_content {
    PFDD_CONTENT_UNREADABLE, /* it may not be read, so it has no bytes */
    PFDD_CONTENT_OTHER,
    PFDD_CONTENT_CAPTURE,
    PFDD_CONTENT_CODE,
    PFDD_CONTENT_COMPRESSED,
};

/* bytes [n]: the first ones of the file, up to PFDD_CONTENT_HEAD. */
enum pfdd_file_content pfdd_file_content(const char *bytes, size_t n);

#endif
