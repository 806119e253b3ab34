/* SPDX-License-Identifier: MIT */
/*
 * ELF files whose sections are compressed (SHF_COMPRESSED, "Compressed
 * Sections" of the generic ABI): a copy of the file in which those that are
 * wanted stand as they were. Knows nothing of what is in them.
 */
#ifndef PFD_ELF_INFLATE_H
#define PFD_ELF_INFLATE_H

#include <stdbool.h>

#include "core/base/byte_reader.h"
#include "core/base/error.h"

/* Has it any? Only of 64 bits, little-endian. */
bool pfd_elf_is_compressed(struct pfd_byte_reader file);

struct pfd_elf_inflated {
    uint8_t *bytes; /* [n], owned by the caller; NULL: no section is wanted */
    size_t n;
    size_t n_compressed; /* bytes that were inflated */
};

/* Is a section wanted that begins with these bytes, 64 at most? */
typedef bool (*pfd_elf_wanted_fn)(struct pfd_byte_reader head);

/*
 * Inflates the sections that are wanted, and all notes, behind a copy of the
 * file, whose section headers say so. n_max: bytes that all of them may have; what
 * is more, or damaged, is a finding.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_elf_inflate(struct pfd_byte_reader file, uint64_t n_max,
                                pfd_elf_wanted_fn wanted,
                                struct pfd_elf_inflated *ret,
                                struct pfd_report *report,
                                struct pfd_error *err);

#endif
