/* SPDX-License-Identifier: MIT */
/* Shaders of a set of strings. */
#ifndef PFD_SHADER_LOADER_H
#define PFD_SHADER_LOADER_H

#include <printfdecode/strings.h>

#include "core/spirv/spirv.h"

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
