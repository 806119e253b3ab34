/* SPDX-License-Identifier: MIT */
/*
 * ELF files with compressed sections (SHF_COMPRESSED, "Compressed Sections" of
 * the generic ABI): makes a copy of the file in which the wanted sections are
 * inflated. Does not know the sections' content.
 */
#ifndef PFD_ELF_INFLATE_H
#define PFD_ELF_INFLATE_H

#include <stdbool.h>

#include "core/base/byte_reader.h"
#include "core/base/error.h"

/* Does the file have compressed sections? ELF64 little-endian only. */
bool pfd_elf_is_compressed(struct pfd_byte_reader file);

struct pfd_elf_inflated {
    uint8_t *bytes; /* [n], owned by the caller; NULL: no section is wanted */
    size_t n;
    size_t n_compressed; /* bytes that were inflated */
};

/* Is the section that begins with these bytes, 64 at most, wanted? */
typedef bool (*pfd_elf_wanted_fn)(struct pfd_byte_reader head);

/*
 * Inflates the wanted sections and all notes behind a copy of the file, and
 * points the copy's section headers there. n_max: limit of their bytes in
 * total. A section beyond it, or a damaged one, is a finding.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_elf_inflate(struct pfd_byte_reader file, uint64_t n_max,
                                pfd_elf_wanted_fn wanted,
                                struct pfd_elf_inflated *ret,
                                struct pfd_report *report,
                                struct pfd_error *err);

#endif
