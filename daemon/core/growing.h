/* SPDX-License-Identifier: MIT */
/* Bytes that grow. Running out of memory is remembered, and asked for once. */
#ifndef PFDD_GROWING_H
#define PFDD_GROWING_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PFDD_GROWING_PRINT = 256 /* bytes that are printed at once, and a NUL */
};

/* All zeros: none yet. */
struct pfdd_growing {
    char *at; /* [n], owned */
    size_t n;
    size_t size;
    bool failed; /* something is missing */
};

/* Room for n more bytes; whoever fills it adds to n. NULL: there is none. */
char *pfdd_growing_room(struct pfdd_growing *g, size_t n);

void pfdd_growing_add(struct pfdd_growing *g, const void *bytes, size_t n);
void pfdd_growing_puts(struct pfdd_growing *g, const char *text);
/* What is longer fails. */
__attribute__((format(printf, 2, 3))) void pfdd_growing_print(
    struct pfdd_growing *g, const char *format, ...);

void pfdd_growing_free(struct pfdd_growing *g);

#endif
