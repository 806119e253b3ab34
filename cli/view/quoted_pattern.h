/* SPDX-License-Identifier: MIT */
/* A pattern of PCRE2 that matches a text alone. */
#ifndef CLI_VIEW_QUOTED_PATTERN_H
#define CLI_VIEW_QUOTED_PATTERN_H

#include "core/base/text.h"

/* Appends it between other patterns, with a NUL behind it. Letters of UTF-8 stay
 * letters, which have other cases. */
static inline void quoted_pattern(struct pfd_text *out, const char *before,
                                  const char *text, size_t n, const char *after)
{
    pfd_text_puts(out, before);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80) {
            pfd_text_printf(out, "\\x%02x", c);
        } else {
            pfd_text_add(out, &text[i], 1);
        }
    }
    pfd_text_puts(out, after);
    pfd_text_add(out, "", 1);
}

#endif
