/* SPDX-License-Identifier: MIT */
/* Foreign text, escaped for a terminal (escape.h), and as a part of one line. */
#ifndef PFD_SAFE_LINE_H
#define PFD_SAFE_LINE_H

#include <stddef.h>

#include "core/base/text.h"

/* Adds text [n], with its newlines. */
void pfd_text_add_safe(struct pfd_text *out, const char *text, size_t n);

/* The same on one line: a newline becomes \n. */
void pfd_text_add_safe_line(struct pfd_text *out, const char *text, size_t n);

/* The same in a sentence: a newline becomes a space. */
void pfd_text_add_safe_words(struct pfd_text *out, const char *text, size_t n);

#endif
