/* SPDX-License-Identifier: MIT */
#include "core/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    ROOM_FIRST = 256
};

void pfd_text_free(struct pfd_text *text)
{
    free(text->data);
    *text = (struct pfd_text){ 0 };
}

char *pfd_text_grow(struct pfd_text *text, size_t n)
{
    size_t want = text->n + n;
    size_t room = text->room ? text->room : ROOM_FIRST;
    while (room < want && room < SIZE_MAX / 2)
        room *= 2;
    char *data = want < n || room < want ? NULL : realloc(text->data, room);
    if (!data) {
        text->failed = true;
        return NULL;
    }
    text->data = data;
    text->room = room;
    return data + text->n;
}

char *pfd_text_expect(struct pfd_text *text, size_t n)
{
    enum {
        PAGE = 4096
    };
    char *at = pfd_text_reserve(text, n ? n : 1);
    uintptr_t skip = (uintptr_t)at % PAGE;
    if (at && n > PAGE) /* may fail */
        madvise(at - skip, n + skip, MADV_HUGEPAGE);
    return at;
}

char *pfd_text_take(struct pfd_text *text, size_t *n)
{
    *n = text->failed ? 0 : text->n;
    char *fits = *n ? realloc(text->data, *n) : NULL;
    char *ret = *n && !fits ? text->data : fits;
    if (*n)
        text->data = NULL;
    pfd_text_free(text);
    return ret;
}

void pfd_text_printf(struct pfd_text *text, const char *format, ...)
{
    va_list ap;
    va_list again;

    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    char *out = n < 0 ? NULL : pfd_text_reserve(text, (size_t)n + 1);
    if (out) {
        vsnprintf(out, (size_t)n + 1, format, again);
        text->n += (size_t)n;
    }
    va_end(again);
}
