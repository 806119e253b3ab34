/* SPDX-License-Identifier: MIT */
/* A growing array of bytes. A failed allocation is remembered, so that callers
 * check `failed` once. */
#ifndef PFDD_BYTE_BUFFER_H
#define PFDD_BYTE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    PFDD_BYTE_BUFFER_PRINT = 256 /* bytes of one pfdd_byte_buffer_print(), with
                                    a NUL */
};

/* All zeros: empty. */
struct pfdd_byte_buffer {
    char *at; /* [n], owned */
    size_t n;
    size_t size;
    bool failed; /* bytes are missing */
};

/* As pfdd_byte_buffer_room(), when the array has to grow. */
char *pfdd_byte_buffer_grow(struct pfdd_byte_buffer *g, size_t n);

/* Room for n more bytes; the caller fills it and adds to n. NULL: out of
 * memory. */
static inline char *pfdd_byte_buffer_room(struct pfdd_byte_buffer *g, size_t n)
{
    if (g->failed)
        return NULL;
    bool is_there = g->at && n <= g->size - g->n;
    return is_there ? g->at + g->n : pfdd_byte_buffer_grow(g, n);
}

/* Inline: each log record has dozens of small texts. */
static inline void pfdd_byte_buffer_add(struct pfdd_byte_buffer *g,
                                        const void *bytes, size_t n)
{
    char *at = n ? pfdd_byte_buffer_room(g, n) : NULL;
    if (!at)
        return;
    memcpy(at, bytes, n);
    g->n += n;
}

static inline void pfdd_byte_buffer_puts(struct pfdd_byte_buffer *g,
                                         const char *text)
{
    pfdd_byte_buffer_add(g, text, strlen(text));
}

/* Decimal digits. */
void pfdd_byte_buffer_number(struct pfdd_byte_buffer *g, uint64_t value);
/* "0x" and n digits, at least. */
void pfdd_byte_buffer_hex(struct pfdd_byte_buffer *g, uint64_t value,
                          unsigned n);
/* A longer text fails. */
__attribute__((format(printf, 2, 3))) void pfdd_byte_buffer_print(
    struct pfdd_byte_buffer *g, const char *format, ...);

/* Gives away its bytes in a block of just their number, and empties it. NULL:
 * bytes are missing, or there are none. */
char *pfdd_byte_buffer_take(struct pfdd_byte_buffer *g, size_t *n);

void pfdd_byte_buffer_free(struct pfdd_byte_buffer *g);

#endif
