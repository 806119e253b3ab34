/* SPDX-License-Identifier: MIT */
/*
 * Searching any file for code objects, and the archives that a program names.
 */
#ifndef PFD_INNER_OBJECTS_H
#define PFD_INNER_OBJECTS_H

#include <printfdecode/strings.h>

/* The same of a file of any kind; behind the objects that pfd_objects_read()
 * gives, in its order, come code objects of AMD and bundles anywhere else in the
 * file, which is searched byte by byte: "file+0x50". */
enum pfd_status pfd_objects_search(const void *bytes, size_t n,
                                   const char *source, uint64_t max_inflated,
                                   pfd_object_fn fn, void *user,
                                   pfd_finding_fn finding_fn,
                                   void *finding_user, struct pfd_error *err);

/* Takes the path of one file, borrowed until it returns. why_not: NULL of an
 * archive, else what the file is instead, or why it cannot be opened. */
typedef void (*pfd_beside_fn)(void *user, const char *path,
                              const char *why_not);

/*
 * Calls fn for every archive of device code that the program in bytes [n],
 * borrowed for the call, names and that is there: ROCm's kpack archives, whose
 * names are relative to the folder of path, the program's own. Only the first
 * 16 names count. Nothing but a regular file is opened.
 *
 * PFD_OK, which it is too for what names none; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_objects_beside(const char *path, const void *bytes,
                                   size_t n, pfd_beside_fn fn, void *user,
                                   struct pfd_error *err);

#endif
