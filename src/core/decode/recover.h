/* SPDX-License-Identifier: MIT */
/* Runs of entries in any memory, for the search of entries. */
#ifndef PFD_RECOVER_H
#define PFD_RECOVER_H

#include <printfdecode/recover.h>

#include "core/decode/format.h"

/* The run of bytes [n] that begins at `from`, where live->find of the format
 * has found an entry. */
struct pfd_recover_run pfd_recover_measure(const struct pfd_format *format,
                                           const struct pfd_table *table,
                                           const uint8_t *bytes, size_t n,
                                           size_t from);

#endif
