/* SPDX-License-Identifier: MIT */
#include "ring/chunk.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "core/decode/inspect.h"
#include "stream/capture/wire.h"

/* An option as a word; empty where it is the default. */
static struct pfd_wire_bytes word_of(const struct pfd_options *options,
                                     const char *name)
{
    static const struct pfd_options none;
    const char *word = pfd_options_word(options, name);
    const char *usual = pfd_options_word(&none, name);
    return pfd_wire_text(word && usual && strcmp(word, usual) != 0 ? word
                                                                   : NULL);
}

static struct pfd_wire_frame *make_frame(
    const struct pfdd_buffer *b, const struct pfdd_buffer_options *options)
{
    static atomic_uint_fast64_t n_buffers;
    struct pfd_wire_frame frame = { .type = PFD_WIRE_BUFFER };
    if (options->frame)
        frame = *options->frame;
    frame.type = PFD_WIRE_BUFFER;
    frame.buffer = ++n_buffers;
    frame.generation = frame.size = frame.fds = 0;
    frame.bytes = (struct pfd_wire_bytes){ NULL, 0 };
    frame.name = pfd_wire_text(b->name);
    frame.scope = options->scope;
    frame.layout = word_of(&b->options, "layout");
    frame.compat = word_of(&b->options, "compat");
    frame.opencl_strings = word_of(&b->options, "opencl-strings");
    frame.kernel = word_of(&b->options, "kernel");
    return pfd_wire_copy(&frame);
}

/* The machine that has the buffer, if that is another one. */
static char *copy_host(const struct pfd_wire_frame *frame)
{
    char host[PFDD_NAME_ROOM] = "";
    if (frame && frame->host.n)
        pfdd_name_put(host, frame->host.at, frame->host.n);
    return strdup(strcmp(host, pfdd_host_name()) != 0 ? host : "");
}

bool pfdd_buffer_is_of(const struct pfdd_buffer *buffer, const char *source,
                       const char *host)
{
    const char *ours = *buffer->host ? buffer->host : pfdd_host_name();
    return (!source || !strcmp(buffer->name, source)) &&
           (!host || !strcmp(ours, host));
}

struct pfdd_buffer *pfdd_buffer_new(const struct pfdd_buffer_options *options)
{
    struct pfdd_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->refs = 1;
    if (options->binding)
        b->binding = pfdd_binding_ref(options->binding);
    if (options->options)
        b->options = *options->options;
    b->name = strdup(options->name);
    b->origin = options->origin ? strdup(options->origin) : NULL;
    b->host = copy_host(options->frame);
    b->frame = b->name ? make_frame(b, options) : NULL;
    if (!b->frame || !b->host || (options->origin && !b->origin)) {
        pfdd_buffer_unref(b);
        return NULL;
    }
    b->n_bytes = sizeof *b + malloc_usable_size(b->name) +
                 malloc_usable_size(b->host) + malloc_usable_size(b->origin) +
                 malloc_usable_size(b->frame);
    return b;
}

void pfdd_buffer_key(const struct pfdd_buffer *buffer,
                     char ret[PFDD_BUFFER_KEY])
{
    int n = snprintf(ret, PFDD_BUFFER_KEY, "%.255s", buffer->name);
    if (buffer->frame->pid) {
        snprintf(ret + n, (size_t)(PFDD_BUFFER_KEY - n), "@%" PRIu64,
                 buffer->frame->pid);
    }
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
    if (buffer->held)
        *buffer->held -= buffer->n_bytes;
    pfdd_binding_unref(buffer->binding);
    free(buffer->name);
    free(buffer->host);
    free(buffer->origin);
    free(buffer->frame);
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
