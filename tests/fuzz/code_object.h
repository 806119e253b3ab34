/* SPDX-License-Identifier: MIT */
/* A code object of ROCm that has rows of printf strings and nothing else. */
#ifndef CODE_OBJECT_H
#define CODE_OBJECT_H

#include <string.h>

#include <printfdecode/strings.h>

#include "fuzz.h"

enum {
    ELF_HEADER = 64,
    PROGRAM_HEADER = 56,
    ROOM = 1 << 18,
};

struct writer {
    uint8_t bytes[ROOM];
    size_t n;
};

static inline void put(struct writer *w, const void *bytes, size_t n)
{
    FUZZ_CHECK(n <= ROOM - w->n);
    memcpy(w->bytes + w->n, bytes, n);
    w->n += n;
}

static inline void put_number(struct writer *w, uint64_t v, size_t n)
{
    put(w, &v, n);
}

static inline void put_big(struct writer *w, uint8_t type, uint32_t v)
{
    const uint8_t bytes[] = { type, (uint8_t)(v >> 24), (uint8_t)(v >> 16),
                              (uint8_t)(v >> 8), (uint8_t)v };
    put(w, bytes, sizeof bytes);
}

/* {"amdhsa.printf": [rows]} in MessagePack. */
static inline void put_metadata(struct writer *w, const uint8_t *rows, size_t n)
{
    uint32_t n_rows = 0;
    for (size_t i = 0; i < n; i++)
        n_rows += rows[i] == 0;
    put(w,
        "\x81\xad"
        "amdhsa.printf",
        15);
    put_big(w, 0xdd, n_rows);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (rows[i])
            continue;
        put_big(w, 0xdb, (uint32_t)(i - from));
        put(w, rows + from, i - from);
        from = i + 1;
    }
}

/* A code object that is a note and what shows where it is. */
static inline void put_elf(struct writer *w, const uint8_t *rows, size_t n)
{
    static const uint8_t ident[16] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, 64, 2 };
    static struct writer note;
    note.n = 0;
    put_metadata(&note, rows, n);
    put(w, ident, sizeof ident);
    put_number(w, 3 | 224 << 16, 4);
    put_number(w, 1, 4);
    put_number(w, 0, 8);
    put_number(w, ELF_HEADER, 8);
    put_number(w, 0, 8);
    put_number(w, 0, 4);
    put_number(w, ELF_HEADER | PROGRAM_HEADER << 16, 4);
    put_number(w, 1, 8);
    put_number(w, 4 | UINT64_C(4) << 32, 8);
    for (int i = 0; i < 3; i++)
        put_number(w, ELF_HEADER + PROGRAM_HEADER, 8);
    for (int i = 0; i < 2; i++)
        put_number(w, 20 + note.n, 8);
    put_number(w, 4, 8);
    put_number(w, 7, 4);
    put_number(w, note.n, 4);
    put_number(w, 32, 4);
    put(w, "AMDGPU\0", 8);
    put(w, note.bytes, note.n);
}

/* Adds the strings of rows [n], each with a NUL behind it. */
static inline void load_rows(struct pfd_strings *strings, const uint8_t *rows,
                             size_t n)
{
    static struct writer object;
    object.n = 0;
    put_elf(&object, rows, n);
    FUZZ_CHECK(pfd_strings_load(strings, object.bytes, object.n, "fuzz", NULL,
                                NULL, NULL) == PFD_OK);
}

#endif
