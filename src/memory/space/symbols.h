/* SPDX-License-Identifier: MIT */
/*
 * Symbols of the ELF images that are mapped into a memory, looked up in their
 * dynamic tables as the dynamic linker does. Tables are foreign bytes: each
 * walk is bounded, whatever they say.
 */
#ifndef PFD_SYMBOLS_H
#define PFD_SYMBOLS_H

#include "memory/space/address_space.h"

enum {
    PFD_SYMBOLS_MAX = 16
};

/*
 * Addresses of what is called `name` and defined in some image: in those of the
 * link map that the auxiliary vector leads to, then in those that begin a
 * region; each address once, in the order found, at most PFD_SYMBOLS_MAX.
 * Returns how many.
 */
size_t pfd_symbols_find(struct pfd_memory *memory, const char *name,
                        uint64_t ret[PFD_SYMBOLS_MAX]);

#endif
