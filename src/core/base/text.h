/* SPDX-License-Identifier: MIT */
/*
 * Append-only text that grows. An allocation failure is remembered and checked
 * once, at the end; until then the text stays as it is.
 */
#ifndef PFD_TEXT_H
#define PFD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/base/error.h"

/* All zero is an empty text. */
struct pfd_text {
    char *data; /* [n] bytes, not NUL-terminated; owned */
    size_t n;
    size_t room;
    bool failed;
};

void pfd_text_free(struct pfd_text *text);

/* Makes room for n more bytes and returns its start (the caller writes and then
 * increases text->n); NULL when out of memory. */
char *pfd_text_grow(struct pfd_text *text, size_t n);

/* The same before n bytes are appended in parts: large pages provide their
 * memory where possible. */
char *pfd_text_expect(struct pfd_text *text, size_t n);

static inline char *pfd_text_reserve(struct pfd_text *text, size_t n)
{
    if (text->room - text->n >= n)
        return text->data + text->n;
    return pfd_text_grow(text, n);
}

/* Inline: a log record has dozens of small texts. */
static inline void pfd_text_add(struct pfd_text *text, const void *bytes,
                                size_t n)
{
    char *out = n ? pfd_text_reserve(text, n) : NULL;
    if (out) {
        memcpy(out, bytes, n);
        text->n += n;
    }
}

static inline void pfd_text_puts(struct pfd_text *text, const char *s)
{
    pfd_text_add(text, s, strlen(s));
}

/* Gives away its bytes in a block of just their number, and empties it. NULL:
 * bytes are missing, or there are none. */
char *pfd_text_take(struct pfd_text *text, size_t *n);

void pfd_text_printf(struct pfd_text *text, const char *format, ...)
    PFD_PRINTF(2, 3);

#endif
