/* SPDX-License-Identifier: MIT */
/* Facts about files and strings that loading does not need. */
#ifndef PFD_INNER_STRING_LOADER_H
#define PFD_INNER_STRING_LOADER_H

#include <printfdecode/strings.h>

#include "core/spirv/spirv.h"

/* Would a search find a code object of AMD or a bundle in bytes [n]? Any thread. */
bool pfd_strings_search(const void *bytes, size_t n);

/* Are bytes [n], the first ones of a file or all, those of a description of
 * rings? */
bool pfd_strings_describes(const void *bytes, size_t n);

/* Does a description in the set say where files have messages? Those that were
 * loaded before it are loaded again for them. */
bool pfd_strings_reads_files(const struct pfd_strings *strings);

/*
 * The widths in bits of string i's scalars (8, 16, 32 or 64; 0: a string), as
 * the metadata states them, into ret [max]. Returns their number (no entry
 * holds more than 65535); 0 also if there is no such string; SIZE_MAX: out of
 * memory.
 */
size_t pfd_strings_widths(const struct pfd_strings *strings, size_t i,
                          uint8_t *ret, size_t max);

/* Shaders of a set of strings. */

/* Shader i, by rising id: its number (PFD_SHADER_NEXT: unknown) and module,
 * both borrowed until the set is freed. PFD_OK; PFD_END: there is no i. */
enum pfd_status pfd_strings_shader(const struct pfd_strings *strings, size_t i,
                                   uint32_t *id, const char **source,
                                   const struct pfd_spirv **module);

/* Adds the shaders of `from` that this set lacks, and their strings; modules
 * are shared. PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_strings_take_shaders(struct pfd_strings *strings,
                                         const struct pfd_strings *from,
                                         struct pfd_error *err);

#endif
