/* SPDX-License-Identifier: MIT */
#include "spool/spool_preamble.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/wire.h>

#include "base/log.h"
#include "ring/preamble.h"
#include "stream/capture/wire.h"

enum {
    BUFFERS_MAX = 4096, /* of one stream */
    STOCKS_MAX = 1024,
};

/* The subscriber keeps everything that was sent, needed or not: a new stream
 * begins after this many bytes. */
#define TOLD_MAX (UINT64_C(512) << 20)

static void drop_object(struct pfdd_spool_preamble *b)
{
    free(b->bytes);
    b->bytes = NULL;
    b->n = b->at = 0;
}

void pfdd_spool_preamble_deinit(struct pfdd_spool_preamble *b)
{
    for (size_t i = 0; i < b->n_buffers; i++)
        pfdd_buffer_unref(b->buffers[i].sent);
    free(b->buffers);
    free(b->manifests);
    pfdd_manifest_list_deinit(&b->list);
    drop_object(b);
    *b = (struct pfdd_spool_preamble){ 0 };
}

size_t pfdd_spool_preamble_memory(const struct pfdd_spool_preamble *b)
{
    size_t n = b->n + b->list.size * sizeof *b->list.items +
               b->n_manifests * sizeof *b->manifests;
    for (size_t i = 0; i < b->n_buffers; i++)
        n += sizeof *b->buffers + b->buffers[i].sent->n_bytes;
    return n;
}

/* ---- frames ---- */

static bool add_bytes(void *user, const void *bytes, size_t n)
{
    struct pfd_text *out = user;
    pfd_text_add(out, bytes, n);
    return !out->failed;
}

static bool add_frame(struct pfd_text *out, const struct pfd_wire_frame *frame)
{
    return pfd_wire_write(frame, add_bytes, out, NULL) == PFD_OK;
}

static bool begin_stream(struct pfdd_spool_preamble *b, struct pfd_text *out)
{
    if (b->has_begun)
        return true;
    b->has_begun = true;
    return pfdd_preamble_hello(add_bytes, out);
}

/* ---- code objects ---- */

static struct pfdd_spool_preamble_manifest *find_manifest(
    const struct pfdd_spool_preamble *b, uint64_t number)
{
    for (size_t i = 0; i < b->n_manifests; i++) {
        if (b->manifests[i].number == number)
            return &b->manifests[i];
    }
    return NULL;
}

bool pfdd_spool_preamble_has(const struct pfdd_spool_preamble *b,
                             const struct pfdd_manifest *manifest)
{
    const struct pfdd_spool_preamble_manifest *told =
        find_manifest(b, manifest->number);
    return manifest->n == 0 || (told && told->n >= manifest->n);
}

/* NULL: out of memory. */
static struct pfdd_spool_preamble_manifest *add_manifest(
    struct pfdd_spool_preamble *b, uint64_t number)
{
    struct pfdd_spool_preamble_manifest *more =
        realloc(b->manifests, (b->n_manifests + 1) * sizeof *more);
    if (!more)
        return NULL;
    b->manifests = more;
    more[b->n_manifests] =
        (struct pfdd_spool_preamble_manifest){ .number = number };
    return &more[b->n_manifests++];
}

/* Reads the manifest. A missing one counts as empty, and entries go without
 * it. */
static void read_list(struct pfdd_spool_preamble *b,
                      const struct pfdd_spool_preamble_of *of)
{
    char path[PFDD_PATH];
    char why[PFDD_STATE_WHY];
    if (b->list.items)
        return;
    pfdd_manifest_path(of->dir, of->manifest.number, "", path);
    if (!pfdd_manifest_read(of->dir, of->manifest.number, &b->list, why)) {
        pfdd_log(PFDD_ERROR, "%s: %s: entries that need it go without strings",
                 path, why);
    }
}

/* Reads the next object. False: there are no more. */
static bool open_object(struct pfdd_spool_preamble *b,
                        const struct pfdd_spool_preamble_of *of,
                        struct pfdd_spool_preamble_manifest *stock)
{
    while (!b->bytes && stock->n < of->manifest.n && stock->n < b->list.n) {
        const struct pfdd_manifest_item *item = &b->list.items[stock->n];
        if (item->n <= of->n_max) {
            b->bytes = pfdd_manifest_object(of->dir, item);
            b->n = b->bytes ? item->n : 0;
        } else {
            pfdd_log(PFDD_ERROR, "no room for '%.200s': entries go without it",
                     item->name);
        }
        stock->n += !b->bytes;
    }
    return b->bytes;
}

static bool write_object_part(struct pfdd_spool_preamble *b,
                              struct pfdd_spool_preamble_manifest *stock,
                              struct pfd_text *out)
{
    const struct pfdd_manifest_item *item = &b->list.items[stock->n];
    const struct pfdd_code_object object = { .name = item->name,
                                             .bytes = b->bytes,
                                             .n = b->n,
                                             .scope = stock->number,
                                             .is_shader = item->is_shader,
                                             .shader = item->shader };
    b->n_objects += b->at == 0;
    b->n_sent -= b->at;
    bool ok =
        pfdd_preamble_object(&object, b->n_objects, &b->at, add_bytes, out);
    b->n_sent += b->at;
    if (b->at < b->n)
        return ok;
    drop_object(b);
    stock->n++;
    return ok;
}

/* *done: the whole manifest was sent. */
static bool write_manifest(struct pfdd_spool_preamble *b,
                           const struct pfdd_spool_preamble_of *of,
                           struct pfd_text *out, bool *done)
{
    struct pfdd_spool_preamble_manifest *stock =
        find_manifest(b, of->manifest.number);
    stock = stock ? stock : add_manifest(b, of->manifest.number);
    bool ok = stock;
    *done = false;
    while (ok && stock->n < of->manifest.n && out->n < PFDD_PREAMBLE_PART) {
        read_list(b, of);
        if (open_object(b, of, stock)) {
            ok = write_object_part(b, stock, out);
        } else {
            stock->n = of->manifest.n;
        }
    }
    *done = ok && stock->n >= of->manifest.n;
    if (*done)
        pfdd_manifest_list_deinit(&b->list);
    return ok;
}

/* ---- buffers ---- */

/* A buffer with the manifest as its scope. */
static struct pfdd_buffer *copy_buffer(const struct pfdd_buffer *buffer,
                                       uint64_t stock)
{
    struct pfdd_buffer_options options = {
        .name = buffer->name,
        .frame = buffer->frame,
        .origin = buffer->origin,
        .scope = stock,
        .options = &buffer->options,
    };
    return pfdd_buffer_new(&options);
}

/* The buffer that was sent for it, or a new one. NULL: out of memory. */
static struct pfdd_buffer *find_buffer(const struct pfdd_spool_preamble *b,
                                       const struct pfdd_buffer *buffer,
                                       uint64_t stock, uint64_t generation,
                                       bool *is_told)
{
    struct pfdd_buffer *ret = NULL;
    *is_told = false;
    /* The last one is most likely. */
    for (size_t i = b->n_buffers; i > 0 && !*is_told; i--) {
        const struct pfdd_spool_preamble_buffer *each = &b->buffers[i - 1];
        if (each->number == buffer->frame->buffer && each->manifest == stock) {
            ret = each->sent;
            *is_told = each->generation == generation;
        }
    }
    return ret ? pfdd_buffer_ref(ret) : copy_buffer(buffer, stock);
}

static bool tell_buffer(struct pfdd_spool_preamble *b, struct pfdd_buffer *told,
                        uint64_t number, uint64_t stock, uint64_t generation,
                        struct pfd_text *out)
{
    struct pfd_wire_frame frame = *told->frame;
    struct pfdd_spool_preamble_buffer *more =
        realloc(b->buffers, (b->n_buffers + 1) * sizeof *more);
    if (!more)
        return false;
    b->buffers = more;
    more[b->n_buffers++] =
        (struct pfdd_spool_preamble_buffer){ number, stock, generation,
                                             pfdd_buffer_ref(told) };
    frame.generation = generation;
    return add_frame(out, &frame);
}

/* Sends the chunk's buffer, if necessary, and moves the chunk to it. */
static bool tell_buffer_of(struct pfdd_spool_preamble *b, struct pfdd_chunk *c,
                           uint64_t stock, struct pfd_text *out)
{
    bool is_told = false;
    uint64_t number = c->buffer->frame->buffer;
    uint64_t generation = c->contents.generation;
    struct pfdd_buffer *told =
        find_buffer(b, c->buffer, stock, generation, &is_told);
    bool ok = told &&
              (is_told || tell_buffer(b, told, number, stock, generation, out));
    if (!ok) {
        pfdd_buffer_unref(told);
        return false;
    }
    pfdd_buffer_unref(c->buffer);
    c->buffer = told;
    return true;
}

/* ---- the whole preamble ---- */

static bool has_outgrown(const struct pfdd_spool_preamble *b,
                         const struct pfdd_spool_preamble_of *of)
{
    return b->n_buffers + of->n > BUFFERS_MAX || b->n_manifests >= STOCKS_MAX ||
           b->n_sent > TOLD_MAX;
}

/* True: something in the preamble was not sent yet. */
static bool has_news(const struct pfdd_spool_preamble *b,
                     const struct pfdd_spool_preamble_of *of)
{
    bool is_told = pfdd_spool_preamble_has(b, &of->manifest);
    for (size_t i = 0; i < of->n && is_told; i++) {
        const struct pfdd_chunk *c = of->chunks[i];
        struct pfdd_buffer *told =
            find_buffer(b, c->buffer, of->manifest.number,
                        c->contents.generation, &is_told);
        pfdd_buffer_unref(told);
    }
    return !is_told;
}

bool pfdd_spool_preamble_write(struct pfdd_spool_preamble *b,
                               const struct pfdd_spool_preamble_of *of,
                               struct pfd_text *out, bool *done)
{
    bool has_all = false;
    if (!b->is_telling && has_outgrown(b, of) && has_news(b, of))
        pfdd_spool_preamble_deinit(b);
    b->is_telling = true;
    bool ok = begin_stream(b, out) && write_manifest(b, of, out, &has_all);
    for (size_t i = 0; i < of->n && ok && has_all; i++)
        ok = tell_buffer_of(b, of->chunks[i], of->manifest.number, out);
    *done = ok && has_all;
    if (*done)
        b->is_telling = false;
    if (!ok)
        pfdd_spool_preamble_deinit(b);
    return ok;
}
