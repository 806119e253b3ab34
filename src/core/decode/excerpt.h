/* SPDX-License-Identifier: MIT */
/* The lines of source around an entry's message. */
#ifndef PFD_ENTRY_EXCERPT_H
#define PFD_ENTRY_EXCERPT_H

#include <printfdecode/printfdecode.h>

#include "core/spirv/spirv.h"

/*
 * The source line of an entry's message (its origins `line` and `source_line`)
 * with up to `around` lines before and behind it, at most PFD_EXCERPT_AROUND,
 * from the modules of the entry's set of strings. The set owns the texts.
 *
 * PFD_OK; PFD_END: the line is unknown, or no module has its text.
 */
enum pfd_status pfd_entry_excerpt(struct pfd_entry *entry, uint32_t around,
                                  struct pfd_excerpt *ret);

#endif
