/* SPDX-License-Identifier: MIT */
/* Facts about files and strings that loading does not need. */
#ifndef PFD_INNER_STRING_LOADER_H
#define PFD_INNER_STRING_LOADER_H

#include <printfdecode/strings.h>

/* Would a search find a code object of AMD or a bundle in bytes [n]? Any thread. */
bool pfd_strings_search(const void *bytes, size_t n);

/*
 * The widths in bits of string i's scalars (8, 16, 32 or 64; 0: a string), as
 * the metadata states them, into ret [max]. Returns their number (no entry
 * holds more than 65535); 0 also if there is no such string or no memory.
 */
size_t pfd_strings_widths(const struct pfd_strings *strings, size_t i,
                          uint8_t *ret, size_t max);

#endif
