/* SPDX-License-Identifier: MIT */
/*
 * Append-only text that grows. Running out of memory is remembered and asked
 * for once, at the end: until then the text simply stays as it is.
 */
#ifndef PFD_TEXT_H
#define PFD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* All zero is an empty text. */
struct pfd_text {
    char *data; /* [n] bytes, not NUL-terminated; owned */
    size_t n;
    size_t room;
    bool failed;
};

void pfd_text_free(struct pfd_text *text);

/* Makes room for n more bytes and returns where they go (the caller writes and
 * then sets text->n), or NULL when out of memory. */
char *pfd_text_grow(struct pfd_text *text, size_t n);

/* n bytes more are about to come: their memory comes in large pages, where it
 * can. As pfd_text_grow(). */
char *pfd_text_expect(struct pfd_text *text, size_t n);

static inline char *pfd_text_reserve(struct pfd_text *text, size_t n)
{
    if (text->room - text->n >= n)
        return text->data + text->n;
    return pfd_text_grow(text, n);
}

void pfd_text_add(struct pfd_text *text, const void *bytes, size_t n);
void pfd_text_puts(struct pfd_text *text, const char *s);
void pfd_text_printf(struct pfd_text *text, const char *format, ...)
    PFD_PRINTF(2, 3);

#endif
