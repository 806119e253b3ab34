/* SPDX-License-Identifier: MIT */
/*
 * FlatBuffers, as far as Arrow's metadata needs them: tables, vectors and
 * strings, written from front to back. What a table points to is written
 * behind it, and linked then; the whole is little-endian and aligned to 8.
 * (FlatBuffers' "Internals": a table begins with the distance back to its
 * vtable, which says where each field is; offsets are unsigned and forward.)
 */
#ifndef PFD_FLATBUFFERS_H
#define PFD_FLATBUFFERS_H

#include "core/base/text.h"

enum {
    PFD_FLATBUFFER_FIELDS = 8 /* no table here has more */
};

/* A field of a table: its size, 0 where it is left out, and its value. */
struct pfd_flatbuffer_field {
    uint8_t size; /* 1, 2, 4 or 8; offsets 4, linked later */
    uint64_t value;
};

/* Begins a buffer; its root is linked by pfd_flatbuffer_link(out, 0, table). */
void pfd_flatbuffer_begin(struct pfd_text *out);

/* Adds a table of n fields; at[i]: where field i is. Returns where the table
 * is. */
size_t pfd_flatbuffer_table(struct pfd_text *out,
                            const struct pfd_flatbuffer_field *fields, size_t n,
                            size_t *at);

/* Adds a vector of n elements of so many bytes, zero, aligned as elements that
 * contain such as of 8 bytes want it; *first: where the first is. */
size_t pfd_flatbuffer_vector(struct pfd_text *out, size_t n, size_t size,
                             size_t *first);

size_t pfd_flatbuffer_string(struct pfd_text *out, const char *text, size_t n);

/* The offset at `at` leads to what is at `to`, behind it. */
void pfd_flatbuffer_link(struct pfd_text *out, size_t at, size_t to);

#endif
