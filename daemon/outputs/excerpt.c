/* SPDX-License-Identifier: MIT */
#include "outputs/excerpt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/capture.h>
#include <printfdecode/convert.h>
#include <printfdecode/printfdecode.h>
#include <printfdecode/strings.h>

#include "core/base/text.h"
#include "core/decode/entry.h"
#include "core/output/json.h"
#include "core/spirv/shader_table.h"
#include "core/spirv/spirv.h"
#include "stream/capture/chunk.h"

/* The lines of source around an entry's message. */
/*
 * The source around an entry's line. A format returns a line's text as a
 * pointer into its module, and the pointer identifies the line.
 */

static const struct pfd_origin *find_origin(const struct pfd_origin *all,
                                            size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(all[i].name, name))
            return &all[i];
    }
    return NULL;
}

/*
 * The source line of an entry's message (its origins `line` and `source_line`)
 * with up to `around` lines before and behind it, at most PFD_EXCERPT_AROUND,
 * from the modules of the entry's set of strings. The set owns the texts.
 *
 * PFD_OK; PFD_END: the line is unknown, or no module has its text.
 */
static enum pfd_status entry_excerpt(struct pfd_entry *entry, uint32_t around,
                                     struct pfd_excerpt *ret)
{
    size_t n = 0;
    const struct pfd_shader_table *shader_table = entry->of->shader_table;
    const struct pfd_origin *all = pfd_entry_origins(entry, &n);
    const struct pfd_origin *line = find_origin(all, n, "line");
    const struct pfd_origin *text = find_origin(all, n, "source_line");
    if (!line || !text || !shader_table)
        return PFD_END;
    for (size_t i = 0; i < shader_table->n; i++) {
        if (pfd_spirv_excerpt(shader_table->shaders[i].module, text->text,
                              (uint32_t)line->value[0], around, ret))
            return PFD_OK;
    }
    return PFD_END;
}

enum {
    AROUND = 5,      /* default number of lines before and after */
    TOLD_MAX = 1000, /* bytes of a line; longer ones are cut */
    ESCAPED = 6,     /* largest size of a byte in JSON */
    LINES = 2 * PFD_EXCERPT_AROUND + 1,
    /* Memory to make an excerpt, without the reader of its chunk. */
    ROOM = 2 * LINES * (TOLD_MAX * ESCAPED + 64),
};

/* ---- the request ---- */

struct excerpt_query {
    bool is_there; /* it has a sequence number */
    bool has_lines;
    uint64_t sequence;
    uint32_t around;
    const char *source; /* NULL: any source */
};

static bool read_number(const char *text, uint64_t max, uint64_t *ret)
{
    size_t n = strspn(text, "0123456789");
    if (!n || n > 19 || text[n])
        return false;
    *ret = strtoull(text, NULL, 10);
    return *ret <= max;
}

/* NULL, or an error message. */
static const char *take(struct excerpt_query *asked,
                        const struct pfdd_http_arg *arg)
{
    uint64_t value = 0;
    if (!strcmp(arg->name, "sequence")) {
        if (asked->is_there ||
            !read_number(arg->value, UINT64_MAX, &asked->sequence))
            return "'sequence' is the number of one line";
        asked->is_there = true;
    } else if (!strcmp(arg->name, "lines")) {
        if (asked->has_lines ||
            !read_number(arg->value, PFD_EXCERPT_AROUND, &value))
            return "'lines' is one number, up to 20";
        asked->has_lines = true;
        asked->around = (uint32_t)value;
    } else if (!strcmp(arg->name, "source")) {
        if (asked->source || !*arg->value)
            return "'source' is the name of one";
        asked->source = arg->value;
    } else {
        return "there are 'sequence', 'source' and 'lines'";
    }
    return NULL;
}

static const char *read_query(struct excerpt_query *ret,
                              const struct pfdd_http_request *q)
{
    const char *wrong = NULL;
    *ret = (struct excerpt_query){ .around = AROUND };
    for (size_t i = 0; i < q->n_args && !wrong; i++)
        wrong = take(ret, &q->args[i]);
    return wrong || ret->is_there ? wrong : "'sequence' is missing";
}

/* Returns the chunk that holds the line; NULL: see *why. */
static struct pfdd_chunk *find(const struct pfdd_ring *ring,
                               const struct excerpt_query *asked,
                               const char **why)
{
    uint64_t sequence = asked->sequence;
    *why = sequence < ring->next_seq ? "this line is not kept any more"
                                     : "there is no such line yet";
    if (sequence < pfdd_ring_oldest(ring) || sequence >= ring->next_seq)
        return NULL;
    size_t i = pfdd_ring_find(ring, sequence);
    struct pfdd_chunk *c = i < ring->n_chunks ? pfdd_ring_at(ring, i) : NULL;
    if (!c || c->first_seq > sequence || sequence - c->first_seq >= c->n_items)
        return NULL;
    *why = "this line is of another source";
    return asked->source && strcmp(asked->source, c->buffer->name) != 0 ? NULL
                                                                        : c;
}

/* ---- building it, on a worker ---- */

static void put_line(struct pfd_text *out, const struct pfd_excerpt_line *line)
{
    size_t n = line->n;
    if (n > TOLD_MAX) { /* do not cut within a character */
        n = TOLD_MAX;
        while (n && ((unsigned char)line->text[n] & 0xc0) == 0x80)
            n--;
    }
    if (line->number) {
        pfd_text_printf(out, "{\"line\":%" PRIu32 ",", line->number);
    } else {
        pfd_text_puts(out, "{\"line\":null,");
    }
    pfd_text_puts(out, "\"text\":\"");
    char *at = pfd_text_reserve(out, n * ESCAPED + 1);
    if (at)
        out->n += pfd_escape_for_json(at, line->text, n);
    pfd_text_puts(out, n < line->n ? "\",\"cut\":true}" : "\"}");
}

static void put_lines(struct pfd_text *out, const struct pfd_excerpt *e)
{
    pfd_text_puts(out, ",\"lines\":[");
    for (size_t i = 0; i < e->n; i++) {
        pfd_text_puts(out, i ? "," : "");
        put_line(out, &e->lines[i]);
    }
    pfd_text_printf(out, "],\"marked\":%zu}\n", e->marked);
}

static void put_sequence(struct pfd_text *out, uint64_t sequence)
{
    pfd_text_printf(out, "{\"type\":\"excerpt\",\"sequence\":%" PRIu64,
                    sequence);
    if (sequence > UINT64_C(1) << 53) {
        pfd_text_printf(out, ",\"sequence_exact\":\"%" PRIu64 "\"", sequence);
    }
}

/* NULL, or why there is no excerpt. */
static const char *read_item(const struct pfdd_excerpt *e,
                             struct pfd_chunk_reader *reader,
                             struct pfd_excerpt *ret)
{
    struct pfd_chunk_item item = { .type = PFD_CHUNK_GAP };
    const struct pfdd_chunk *c = e->chunk;
    if (pfd_chunk_reader_open(reader, c->bytes, c->n, NULL) != PFD_OK)
        return "this line cannot be read";
    for (uint64_t i = c->first_seq; i <= e->sequence; i++) {
        if (pfd_chunk_reader_next(reader, &item, NULL) != PFD_OK)
            return "this line cannot be read";
    }
    if (item.type != PFD_CHUNK_ENTRY)
        return "this is no message";
    return entry_excerpt(&item.entry, e->around, ret) == PFD_OK
               ? NULL
               : "no module has the text of this line's source";
}

static void make(struct pfdd_job *job)
{
    struct pfdd_excerpt *e = (struct pfdd_excerpt *)job;
    struct pfdd_buffer *buffer = e->chunk->buffer;
    struct pfd_chunk_reader *reader = NULL;
    struct pfd_text out = { 0 };
    struct pfd_excerpt found;
    if (pfd_chunk_reader_new(e->strings->set, buffer->name, &buffer->options,
                             &reader, NULL) != PFD_OK)
        return;
    const char *reason = read_item(e, reader, &found);
    put_sequence(&out, e->sequence);
    if (reason) {
        pfd_text_printf(&out, ",\"lines\":[],\"reason\":\"%s\"}\n", reason);
    } else {
        put_lines(&out, &found);
    }
    pfd_chunk_reader_free(reader);
    e->text = pfd_text_take(&out, &e->n);
}

/* ---- lifetime ---- */

static void made(struct pfdd_job *job)
{
    struct pfdd_excerpt *e = (struct pfdd_excerpt *)job;
    e->done(e);
}

unsigned pfdd_excerpt_ask(struct pfdd_render_cache *render_cache,
                          const struct pfdd_http_request *q,
                          void (*done)(struct pfdd_excerpt *excerpt),
                          void *user, char *err, size_t n_err)
{
    struct excerpt_query excerpt_query;
    const char *why = read_query(&excerpt_query, q);
    snprintf(err, n_err, "%s", why ? why : "");
    if (why)
        return 400;
    struct pfdd_chunk *c = find(render_cache->ring, &excerpt_query, &why);
    snprintf(err, n_err, "%s", c ? "no memory for it now" : why);
    if (!c)
        return 404;
    if (!pfdd_render_cache_reserve(render_cache, ROOM))
        return 503;
    struct pfdd_excerpt *e = calloc(1, sizeof *e);
    if (!e) {
        pfdd_render_cache_release(render_cache, ROOM);
        return 503;
    }
    e->of = render_cache;
    e->chunk = pfdd_chunk_ref(c);
    e->strings = pfdd_strings_ref(c->buffer->binding->strings);
    e->sequence = excerpt_query.sequence;
    e->around = excerpt_query.around;
    e->is_head = q->is_head;
    e->done = done;
    e->user = user;
    e->job.run = make;
    e->job.done = made;
    pfdd_pool_submit(render_cache->chosen, &e->job);
    return 0;
}

void pfdd_excerpt_free(struct pfdd_excerpt *excerpt)
{
    pfdd_render_cache_release(excerpt->of, ROOM);
    pfdd_chunk_unref(excerpt->chunk);
    pfdd_strings_unref(excerpt->strings);
    free(excerpt->text);
    free(excerpt);
}
