/* SPDX-License-Identifier: MIT */
/*
 * FlatBuffers, the part that Arrow's metadata needs: tables, vectors and
 * strings, written from front to back. The target of an offset is written
 * behind its table, and linked then; the buffer is little-endian and aligned to
 * 8. (FlatBuffers' "Internals": a table begins with the distance back to its
 * vtable, which has the place of each field; offsets are unsigned and forward.)
 */
#ifndef PFD_FLATBUFFERS_H
#define PFD_FLATBUFFERS_H

#include "core/base/text.h"

enum {
    PFD_FLATBUFFER_FIELDS = 8 /* no table here has more */
};

/* A field of a table: its size, 0 where it is absent, and its value. */
struct pfd_flatbuffer_field {
    uint8_t size; /* 1, 2, 4 or 8; offsets 4, linked later */
    uint64_t value;
};

/* Begins a buffer; pfd_flatbuffer_link(out, 0, table) links its root. */
void pfd_flatbuffer_begin(struct pfd_text *out);

/* Adds a table of n fields; at[i]: the place of field i. Returns the table's
 * place. */
size_t pfd_flatbuffer_table(struct pfd_text *out,
                            const struct pfd_flatbuffer_field *fields, size_t n,
                            size_t *at);

/* Adds a vector of n zero elements of `size` bytes, aligned for elements with
 * members of 8 bytes; *first: the place of the first. */
size_t pfd_flatbuffer_vector(struct pfd_text *out, size_t n, size_t size,
                             size_t *first);

size_t pfd_flatbuffer_string(struct pfd_text *out, const char *text, size_t n);

/* Sets the offset at `at` to the place `to`, behind it. */
void pfd_flatbuffer_link(struct pfd_text *out, size_t at, size_t to);

#endif
