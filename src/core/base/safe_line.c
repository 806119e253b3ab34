/* SPDX-License-Identifier: MIT */
#include "core/base/safe_line.h"

#include <string.h>

#include "core/base/escape.h"

void pfd_text_add_safe_line(struct pfd_text *out, const char *text, size_t n)
{
    for (size_t from = 0; from <= n;) {
        const char *end = memchr(text + from, '\n', n - from);
        size_t to = end ? (size_t)(end - text) : n;
        char *at = pfd_text_reserve(out, 4 * (to - from) + 1);
        if (!at)
            return;
        out->n +=
            (size_t)(pfd_escape_terminal(at, text + from, to - from) - at);
        if (end)
            pfd_text_puts(out, "\\n");
        from = to + 1;
    }
}
