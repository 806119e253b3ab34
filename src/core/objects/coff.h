/* SPDX-License-Identifier: MIT */
/*
 * The sections of Windows programs (PE) and objects (COFF), by Microsoft's "PE
 * Format". Does not know their content.
 */
#ifndef PFD_COFF_H
#define PFD_COFF_H

#include "core/base/byte_reader.h"

/* True when bytes [n], of which 64 are enough, begin as one of the two does. */
bool pfd_coff_recognise(const void *bytes, size_t n);

struct pfd_coff_section {
    const char *name; /* [n_name], borrowed from the file */
    size_t n_name;
    uint64_t offset;
    struct pfd_byte_reader bytes; /* its bytes in the file */
};

/* Section i. False: there is none, or the file is no program or object. */
bool pfd_coff_section(struct pfd_byte_reader file, size_t i,
                      struct pfd_coff_section *ret);

/* Does its table of sections run past the file's end? */
bool pfd_coff_is_cut(struct pfd_byte_reader file);

#endif
