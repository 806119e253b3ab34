/* SPDX-License-Identifier: MIT */
/*
 * Names that others chose (of buffers, files, programs and labels), as they
 * appear in records, metrics and the log. Each goes through here on input. A
 * name is UTF-8 without control characters and invisible ones. Each byte of
 * anything else becomes \xNN, and so does a backslash before an x. So different
 * bytes have different names, and a name can be decoded.
 */
#ifndef PFDD_NAME_H
#define PFDD_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PFDD_NAME_MAX = 255, /* bytes of a name that others chose */
    PFDD_NAME_ROOM = PFDD_NAME_MAX + 1,
};

/* False: there are no bytes, or they do not fit; ret then has the bytes
 * that fit. */
bool pfdd_name_put(char ret[PFDD_NAME_ROOM], const char *bytes, size_t n);

/* The name of an open file: its path, or its inode and device where the path is
 * too long for a name with a number after it. */
void pfdd_name_of_file(char ret[PFDD_NAME_ROOM], const char *path, int fd);

/* Encodes a name as one component of a path. Letters, digits, '-' and '_' stay,
 * and dots except in front and before digits; each other byte becomes %XX.
 * n_ret: size of ret. False: it does not fit. */
bool pfdd_name_put_path(char *ret, size_t n_ret, const char *name);

/* This machine's host_name, as of the first call: a system call for each log record
 * would cost too much. Any thread. */

/* Constant; "localhost" where it has none. */
const char *pfdd_host_name(void);

#endif
