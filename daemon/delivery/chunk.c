/* SPDX-License-Identifier: MIT */
#include "delivery/chunk.h"

#include <stdlib.h>
#include <string.h>

struct pfdd_buffer *pfdd_buffer_new(const char *name, const char *origin,
                                    struct pfdd_binding *binding,
                                    const struct pfd_options *options)
{
    struct pfdd_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->refs = 1;
    b->binding = pfdd_binding_ref(binding);
    if (options)
        b->options = *options;
    b->name = strdup(name);
    b->origin = origin ? strdup(origin) : NULL;
    if (!b->name || (origin && !b->origin)) {
        pfdd_buffer_unref(b);
        return NULL;
    }
    return b;
}

struct pfdd_buffer *pfdd_buffer_ref(struct pfdd_buffer *buffer)
{
    buffer->refs++;
    return buffer;
}

void pfdd_buffer_unref(struct pfdd_buffer *buffer)
{
    if (!buffer || --buffer->refs > 0)
        return;
    pfdd_binding_unref(buffer->binding);
    free(buffer->name);
    free(buffer->origin);
    free(buffer);
}

struct pfdd_chunk *pfdd_chunk_new(const struct pfdd_contents *contents,
                                  const void *bytes, size_t n)
{
    struct pfdd_chunk *c = malloc(sizeof *c + n);
    if (!c)
        return NULL;
    *c = (struct pfdd_chunk){ .refs = 1, .contents = *contents, .n = n };
    for (unsigned i = 0; i < PFDD_N_KINDS; i++)
        c->n_items += contents->n[i];
    memcpy(c->bytes, bytes, n);
    return c;
}

struct pfdd_chunk *pfdd_chunk_ref(struct pfdd_chunk *chunk)
{
    chunk->refs++;
    return chunk;
}

void pfdd_chunk_unref(struct pfdd_chunk *chunk)
{
    if (!chunk || --chunk->refs > 0)
        return;
    if (chunk->held)
        *chunk->held -= pfdd_chunk_bytes(chunk);
    pfdd_buffer_unref(chunk->buffer);
    free(chunk);
}

size_t pfdd_chunk_bytes(const struct pfdd_chunk *chunk)
{
    return sizeof *chunk + chunk->n + sizeof(void *);
}
