/* SPDX-License-Identifier: MIT */
#include "base/byte_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/digits.h"

char *pfdd_byte_buffer_grow(struct pfdd_byte_buffer *g, size_t n)
{
    size_t room = g->n + n;
    char *more = realloc(g->at, 2 * room);
    if (!more) {
        g->failed = true;
        return NULL;
    }
    g->at = more;
    g->size = 2 * room;
    return g->at + g->n;
}

void pfdd_byte_buffer_number(struct pfdd_byte_buffer *g, uint64_t value)
{
    char *at = pfdd_byte_buffer_room(g, PFDD_DIGITS);
    if (at)
        g->n += pfdd_decimal(at, value);
}

void pfdd_byte_buffer_hex(struct pfdd_byte_buffer *g, uint64_t value,
                          unsigned n)
{
    char *at = pfdd_byte_buffer_room(g, PFDD_DIGITS);
    if (at)
        g->n += pfdd_hex(at, value, n);
}

void pfdd_byte_buffer_print(struct pfdd_byte_buffer *g, const char *format, ...)
{
    char text[PFDD_BYTE_BUFFER_PRINT];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) {
        g->failed = true;
    } else {
        pfdd_byte_buffer_add(g, text, (size_t)n);
    }
}

char *pfdd_byte_buffer_take(struct pfdd_byte_buffer *g, size_t *n)
{
    *n = g->failed ? 0 : g->n;
    char *fits = *n ? realloc(g->at, *n) : NULL;
    char *ret = *n && !fits ? g->at : fits;
    if (*n)
        g->at = NULL;
    pfdd_byte_buffer_free(g);
    return ret;
}

void pfdd_byte_buffer_free(struct pfdd_byte_buffer *g)
{
    free(g->at);
    *g = (struct pfdd_byte_buffer){ 0 };
}
