/* SPDX-License-Identifier: MIT */
/*
 * Names that others chose, of buffers, files, programs and labels, as they
 * stand in records, metrics and the log: each goes through here where it comes
 * in. A name is UTF-8 without control characters and what moves a cursor; each
 * byte of anything else becomes \xNN, and so does a backslash before an x. So
 * different bytes have different names, and the bytes can be told from it.
 */
#ifndef PFDD_NAME_H
#define PFDD_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PFDD_NAME_MAX = 255, /* bytes of a name that others chose */
    PFDD_NAME_ROOM = PFDD_NAME_MAX + 1,
};

/* False: it is empty, or longer than a name may be, and ret is what of it fits.
 */
bool pfdd_name_put(char ret[PFDD_NAME_ROOM], const char *bytes, size_t n);

/* Of a file that is open: its path, or what the kernel calls it where that is
 * too long for a name with a number behind it. */
void pfdd_name_of_file(char ret[PFDD_NAME_ROOM], const char *path, int fd);

/* A name as a part of a path, which grows no folders from it: letters, digits
 * and -_ are left, and dots but in front and before digits; each other byte
 * becomes %XX. ret
 * has room for n_ret bytes; false: there is more of it. */
bool pfdd_name_put_path(char *ret, size_t n_ret, const char *name);

#endif
