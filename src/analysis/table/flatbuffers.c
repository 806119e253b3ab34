/* SPDX-License-Identifier: MIT */
#include "analysis/table/flatbuffers.h"

#include <string.h>

static void align(struct pfd_text *out, size_t to, size_t plus)
{
    static const char zeros[8];
    pfd_text_add(out, zeros, -(out->n + plus) & (to - 1));
}

static void put(struct pfd_text *out, uint64_t value, size_t n)
{
    pfd_text_add(out, &value, n);
}

void pfd_flatbuffer_begin(struct pfd_text *out)
{
    out->n = 0;
    put(out, 0, 4);
}

void pfd_flatbuffer_link(struct pfd_text *out, size_t at, size_t to)
{
    uint32_t distance = (uint32_t)(to - at);
    if (!out->failed && at + sizeof distance <= out->n)
        memcpy(out->data + at, &distance, sizeof distance);
}

size_t pfd_flatbuffer_table(struct pfd_text *out,
                            const struct pfd_flatbuffer_field *fields, size_t n,
                            size_t *at)
{
    size_t places[PFD_FLATBUFFER_FIELDS] = { 0 };
    size_t size = 4; /* the distance to the vtable */
    for (size_t i = 0; i < n; i++) {
        size_t own = fields[i].size;
        if (!own)
            continue;
        size = (size + own - 1) & ~(own - 1);
        places[i] = size;
        size += own;
    }
    align(out, 2, 0);
    size_t vtable = out->n;
    put(out, 4 + 2 * n, 2);
    put(out, size, 2);
    for (size_t i = 0; i < n; i++)
        put(out, places[i], 2);
    align(out, 8, 0);
    size_t table = out->n;
    put(out, table - vtable, 4);
    for (size_t i = 0; i < n; i++) {
        if (!fields[i].size)
            continue;
        while (!out->failed && out->n < table + places[i])
            put(out, 0, 1);
        at[i] = out->n;
        put(out, fields[i].value, fields[i].size);
    }
    return table;
}

size_t pfd_flatbuffer_vector(struct pfd_text *out, size_t n, size_t size,
                             size_t *first)
{
    align(out, 8, 4);
    size_t vector = out->n;
    put(out, n, 4);
    *first = out->n;
    char *to = pfd_text_reserve(out, n * size + 1);
    if (to) {
        memset(to, 0, n * size);
        out->n += n * size;
    }
    return vector;
}

size_t pfd_flatbuffer_string(struct pfd_text *out, const char *text, size_t n)
{
    align(out, 4, 0);
    size_t string = out->n;
    put(out, n, 4);
    pfd_text_add(out, text, n);
    put(out, 0, 1);
    return string;
}
