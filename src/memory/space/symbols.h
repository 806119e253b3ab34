/* SPDX-License-Identifier: MIT */
/*
 * Symbols of the ELF images that are mapped into a memory, looked up in their
 * dynamic tables as the dynamic linker does it. The tables are untrusted: each
 * walk is bounded.
 */
#ifndef PFD_SYMBOLS_H
#define PFD_SYMBOLS_H

#include "memory/space/address_space.h"

enum {
    PFD_SYMBOLS_MAX = 16
};

/*
 * Finds the addresses of a defined symbol `name`: first in the images of the
 * link map that the auxiliary vector leads to, then in images at the beginning
 * of a region. Each address comes once, in the order found, at most
 * PFD_SYMBOLS_MAX. Returns their number.
 */
size_t pfd_symbols_find(struct pfd_memory *memory, const char *name,
                        uint64_t ret[PFD_SYMBOLS_MAX]);

#endif
