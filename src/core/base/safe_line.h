/* SPDX-License-Identifier: MIT */
/* Foreign text as a part of one line. */
#ifndef PFD_SAFE_LINE_H
#define PFD_SAFE_LINE_H

#include <stddef.h>

#include "core/base/text.h"

/* Adds text [n], escaped for a terminal (escape.h); a newline becomes \n. */
void pfd_text_add_safe_line(struct pfd_text *out, const char *text, size_t n);

#endif
