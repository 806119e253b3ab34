/* SPDX-License-Identifier: MIT */
#include "core/base/safe_line.h"

#include <string.h>

#include "core/base/escape.h"

void pfd_text_add_safe(struct pfd_text *out, const char *text, size_t n)
{
    char *at = n ? pfd_text_reserve(out, 4 * n) : NULL;
    if (at)
        out->n += (size_t)(pfd_escape_terminal(at, text, n) - at);
}

static void add_line(struct pfd_text *out, const char *text, size_t n,
                     const char *newline)
{
    while (n) {
        const char *end = memchr(text, '\n', n);
        size_t n_line = end ? (size_t)(end - text) : n;
        pfd_text_add_safe(out, text, n_line);
        if (end)
            pfd_text_puts(out, newline);
        n_line += end != NULL;
        text += n_line;
        n -= n_line;
    }
}

void pfd_text_add_safe_line(struct pfd_text *out, const char *text, size_t n)
{
    add_line(out, text, n, "\\n");
}

void pfd_text_add_safe_words(struct pfd_text *out, const char *text, size_t n)
{
    add_line(out, text, n, " ");
}
