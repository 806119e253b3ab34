/* SPDX-License-Identifier: MIT */
#include "inputs/edge_buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/capture.h>

#include "base/log.h"
#include "base/name.h"
#include "config/reserved_names.h"
#include "core/decode/string_loader.h"
#include "ingest/ingest.h"
#include "ingest/origin.h"
#include "ingest/string_store.h"

enum {
    FRAMES_MAX = 2 << 20, /* bytes that all remembered buffers take */
};

/* A frame is stored twice: as it came, and in the buffer. */
static size_t bytes_of(size_t n_said)
{
    return 2 * n_said + sizeof(struct pfdd_buffer);
}

/* ---- code objects ---- */

/* The last buffer takes its place. */
static void forget_buffer(struct pfdd_edge_buffers *known, size_t i)
{
    struct pfdd_edge_buffer *b = &known->buffers[i];
    known->n_bytes -= bytes_of(b->n_said);
    free(b->said);
    pfdd_buffer_unref(b->buffer);
    *b = known->buffers[--known->n_buffers];
}

static void forget_buffers(struct pfdd_edge_buffers *known)
{
    while (known->n_buffers)
        forget_buffer(known, known->n_buffers - 1);
}

void pfdd_edge_buffers_forget(struct pfdd_edge_buffers *known)
{
    forget_buffers(known);
    while (known->n_codes)
        pfdd_producer_unref(known->codes[--known->n_codes].producer);
}

const struct pfdd_edge_code *pfdd_edge_code_find(
    const struct pfdd_edge_buffers *known, const char *digest)
{
    for (size_t i = known->n_codes; i > 0; i--) {
        if (!strcmp(known->codes[i - 1].digest, digest))
            return &known->codes[i - 1];
    }
    return NULL;
}

static void add_object(struct pfdd_edge_buffers *known,
                       const struct pfdd_edge_code *code,
                       struct pfdd_worker_message_object *given)
{
    struct pfdd_ingest *ingest = known->ingest;
    pfdd_string_store_evict(ingest->string_store, given->n);
    if (!pfdd_memory_budget_has(ingest->budget, given->n)) {
        pfdd_log(PFDD_ERROR,
                 "nats: memory is up to its cap: entries go without '%.200s'",
                 given->name);
        return;
    }
    bool is_own =
        given->is_shader || pfd_strings_describes(given->bytes, given->n);
    struct pfdd_object object = { .name = given->name,
                                  .producer = is_own ? code->producer : NULL,
                                  .owner = code->producer,
                                  .bytes = given->bytes,
                                  .n = given->n,
                                  .is_shader = given->is_shader,
                                  .shader = given->shader };
    pfdd_string_store_add(ingest->string_store, &object);
    given->bytes = NULL;
}

void pfdd_edge_code_take(struct pfdd_edge_buffers *known,
                         struct pfdd_worker_message *p)
{
    if (known->n_codes == PFDD_EDGE_CODES)
        pfdd_edge_buffers_forget(known);
    struct pfdd_edge_code *code = &known->codes[known->n_codes];
    *code = (struct pfdd_edge_code){ .producer = pfdd_producer_new(
                                         known->ingest->string_store) };
    snprintf(code->digest, sizeof code->digest, "%s", p->code);
    if (!code->producer)
        return;
    known->n_codes++;
    for (size_t i = 0; i < p->n_objects; i++)
        add_object(known, code, &p->objects[i]);
}

/* ---- buffers ---- */

static void refuse(struct pfdd_ingest *ingest,
                   const struct pfdd_worker_message *p, const char *why)
{
    ingest->count->bad_frames++;
    pfdd_log_peer(PFDD_WARNING, "nats: a buffer of edge %.32s: %s", p->edge,
                  why);
}

struct pfdd_buffer *pfdd_edge_buffer_make(struct pfdd_edge_buffers *known,
                                          const struct pfdd_worker_message *p,
                                          const struct pfdd_edge_code *code,
                                          const struct pfd_wire_frame *frame)
{
    struct pfdd_ingest *ingest = known->ingest;
    struct pfdd_producer *producer = code ? code->producer : NULL;
    struct pfdd_origin origin;
    struct pfd_options options = { 0 };
    struct pfd_error err;
    const char *format = NULL;
    char name[PFDD_NAME_ROOM];
    if (pfd_capture_reading(frame, &format, &options, &err) != PFD_OK)
        refuse(ingest, p, err.text);
    if (!pfdd_name_put(name, frame->name.at, frame->name.n) ||
        !pfdd_reserved_name_release(ingest->config, name))
        snprintf(name, sizeof name, "edge %.32s", p->edge);
    const char *why = pfdd_origin_init(&origin, frame);
    if (why)
        refuse(ingest, p, why);
    struct pfdd_buffer_options said = {
        .name = name,
        .frame = &origin.frame,
        .binding = pfdd_string_store_bind(ingest->string_store, producer),
        .scope = pfdd_producer_number(producer),
        .options = &options,
    };
    struct pfdd_buffer *ret = pfdd_origin_buffer(&said);
    pfdd_origin_deinit(&origin);
    return ret;
}

/* Evicts the least recently used buffers to make space for n more bytes. */
static void evict_buffers(struct pfdd_edge_buffers *known, size_t n)
{
    while (known->n_buffers == PFDD_EDGE_BUFFERS ||
           (known->n_buffers && known->n_bytes + n > FRAMES_MAX)) {
        size_t oldest = 0;
        for (size_t i = 1; i < known->n_buffers; i++) {
            if (known->buffers[i].used < known->buffers[oldest].used)
                oldest = i;
        }
        forget_buffer(known, oldest);
    }
}

struct pfdd_buffer *pfdd_edge_buffer_find(struct pfdd_edge_buffers *known,
                                          const struct pfdd_worker_message *p,
                                          const struct pfdd_edge_code *code,
                                          const struct pfd_wire_frame *frame)
{
    size_t n = (size_t)frame->n_bytes;
    for (size_t i = 0; i < known->n_buffers; i++) {
        struct pfdd_edge_buffer *b = &known->buffers[i];
        if (b->code == code && b->n_said == n && !strcmp(b->edge, p->edge) &&
            !memcmp(b->said, p->bytes, n)) {
            b->used = ++known->clock;
            return b->buffer;
        }
    }
    struct pfdd_buffer *buffer = pfdd_edge_buffer_make(known, p, code, frame);
    char *said = malloc(n);
    if (!buffer || !said) {
        pfdd_buffer_unref(buffer);
        free(said);
        return NULL;
    }
    memcpy(said, p->bytes, n);
    evict_buffers(known, bytes_of(n));
    known->n_bytes += bytes_of(n);
    struct pfdd_edge_buffer *b = &known->buffers[known->n_buffers++];
    *b = (struct pfdd_edge_buffer){ .code = code,
                                    .said = said,
                                    .n_said = n,
                                    .buffer = buffer,
                                    .used = ++known->clock };
    snprintf(b->edge, sizeof b->edge, "%s", p->edge);
    return buffer;
}
