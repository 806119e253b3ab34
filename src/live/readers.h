/* SPDX-License-Identifier: MIT */
#ifndef PFD_READERS_H
#define PFD_READERS_H

#include <printfdecode/source.h>

/* As pfd_source_read() of a file; readers may be NULL. */
long pfd_readers_read(struct pfd_readers *readers, int fd, uint64_t offset,
                      void *bytes, size_t n);

#endif
