/* SPDX-License-Identifier: MIT */
#include "core/growing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *pfdd_growing_room(struct pfdd_growing *g, size_t n)
{
    size_t room = g->n + n;
    if (g->failed || room <= g->size)
        return g->failed ? NULL : g->at + g->n;
    char *more = realloc(g->at, 2 * room);
    if (!more) {
        g->failed = true;
        return NULL;
    }
    g->at = more;
    g->size = 2 * room;
    return g->at + g->n;
}

void pfdd_growing_add(struct pfdd_growing *g, const void *bytes, size_t n)
{
    char *at = n ? pfdd_growing_room(g, n) : NULL;
    if (!at)
        return;
    memcpy(at, bytes, n);
    g->n += n;
}

void pfdd_growing_puts(struct pfdd_growing *g, const char *text)
{
    pfdd_growing_add(g, text, strlen(text));
}

void pfdd_growing_print(struct pfdd_growing *g, const char *format, ...)
{
    char text[PFDD_GROWING_PRINT];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) {
        g->failed = true;
    } else {
        pfdd_growing_add(g, text, (size_t)n);
    }
}

void pfdd_growing_free(struct pfdd_growing *g)
{
    free(g->at);
    *g = (struct pfdd_growing){ 0 };
}
