/* SPDX-License-Identifier: MIT */
/* Runs of entries in memory of any kind, for whoever searches it. */
#ifndef PFD_RECOVER_H
#define PFD_RECOVER_H

#include <printfdecode/recover.h>

#include "core/decode/format.h"

/* The run of bytes [n] that begins at `from`, where the format says that an
 * entry is (its live->find). */
struct pfd_recover_run pfd_recover_measure(const struct pfd_format *format,
                                           const struct pfd_table *table,
                                           const uint8_t *bytes, size_t n,
                                           size_t from);

#endif
