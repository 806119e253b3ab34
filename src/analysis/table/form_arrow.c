/* SPDX-License-Identifier: MIT */
/*
 * Arrow's IPC, version V5 of its metadata: the file format for a file, the
 * stream format for a pipe and for .arrows. A batch is a record batch.
 *
 * Repeated texts are numbers into a dictionary. A stream sends the dictionary
 * again before the first batch that needs a new text, and starts an empty one
 * when it is large. A file may have only one, which stands behind the batches.
 * Constants and field numbers are those of Arrow's format/Schema.fbs,
 * Message.fbs and File.fbs.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/table/flatbuffers.h"
#include "analysis/table/table_form.h"
#include "core/base/dictionary.h"

enum {
    VERSION_V5 = 4,
    HEADER_SCHEMA = 1,
    HEADER_DICTIONARY = 2,
    HEADER_RECORDS = 3,
    TYPE_INT = 2,
    TYPE_FLOAT = 3,
    TYPE_UTF8 = 5,
    TYPE_TIMESTAMP = 10,
    UNIT_NANOSECOND = 3,
    /* Use a dictionary up to so many texts, or if each comes twice. */
    FEW_TEXTS = 256,
    STREAM_WORDS = 1 << 16, /* above it a stream's dictionary is cleared */
    FILE_BYTES = 256 << 20, /* of one dictionary, in memory */
};

static const char file_magic[8] = "ARROW1";

/* The place of a message in the file. */
struct block {
    uint64_t at;
    uint32_t n_head;
    uint32_t spare;
    uint64_t n_body;
};

struct texts {
    bool is_dictionary;
    struct pfd_dictionary dictionary;
    uint32_t n_written; /* texts in the last dictionary that was written */
};

struct state {
    bool is_file;
    bool is_begun;
    uint64_t at;                  /* bytes written */
    struct texts *texts;          /* [n_columns] */
    struct pfd_text records;      /* struct block */
    struct pfd_text dictionaries; /* likewise */
    struct pfd_text head;
    struct pfd_text body;
    struct pfd_text buffers; /* {offset, length} of the body's */
    struct pfd_text nodes;   /* {length, nulls} */
    struct pfd_text utf8;
};

static struct pfd_flatbuffer_field none(void)
{
    return (struct pfd_flatbuffer_field){ 0 };
}

static struct pfd_flatbuffer_field number(uint8_t size, uint64_t value)
{
    return (struct pfd_flatbuffer_field){ size, value };
}

static struct pfd_flatbuffer_field link(void)
{
    return (struct pfd_flatbuffer_field){ 4, 0 };
}

/* ---- the schema ---- */

static size_t add_int(struct pfd_text *out, unsigned bits, bool is_signed)
{
    size_t at[2];
    return pfd_flatbuffer_table(out,
                                (struct pfd_flatbuffer_field[]){
                                    number(4, bits), number(1, is_signed) },
                                2, at);
}

static uint8_t type_of(const struct pfd_table_column *c)
{
    static const uint8_t types[] = {
        [PFD_VALUE_INT] = TYPE_INT,        [PFD_VALUE_UNSIGNED] = TYPE_INT,
        [PFD_VALUE_FLOAT] = TYPE_FLOAT,    [PFD_VALUE_TEXT] = TYPE_UTF8,
        [PFD_VALUE_TIME] = TYPE_TIMESTAMP,
    };
    return types[c->type];
}

static size_t add_type(struct pfd_text *out, const struct pfd_table_column *c)
{
    size_t at[2];
    size_t table;
    switch (c->type) {
    case PFD_VALUE_INT:
    case PFD_VALUE_UNSIGNED:
        return add_int(out, 8u * c->n_bytes, c->type == PFD_VALUE_INT);
    case PFD_VALUE_FLOAT: /* HALF, SINGLE, DOUBLE are 0, 1, 2 */
        return pfd_flatbuffer_table(out,
                                    (struct pfd_flatbuffer_field[]){
                                        number(2, (uint64_t)c->n_bytes / 4) },
                                    1, at);
    case PFD_VALUE_TIME:
        table = pfd_flatbuffer_table(out,
                                     (struct pfd_flatbuffer_field[]){
                                         number(2, UNIT_NANOSECOND), link() },
                                     2, at);
        pfd_flatbuffer_link(out, at[1], pfd_flatbuffer_string(out, "UTC", 3));
        return table;
    case PFD_VALUE_TEXT:
        break;
    }
    return pfd_flatbuffer_table(out, NULL, 0, at);
}

/* Field: name, nullable, type_type, type, dictionary, children. */
static size_t add_field(struct pfd_text *out, const struct pfd_table_column *c,
                        size_t i, bool is_dictionary)
{
    size_t at[6];
    size_t first;
    const struct pfd_flatbuffer_field fields[6] = {
        link(),
        number(1, 1),
        number(1, type_of(c)),
        link(),
        is_dictionary ? link() : none(),
        link(),
    };
    size_t table = pfd_flatbuffer_table(out, fields, 6, at);
    pfd_flatbuffer_link(out, at[0],
                        pfd_flatbuffer_string(out, c->name, strlen(c->name)));
    pfd_flatbuffer_link(out, at[3], add_type(out, c));
    if (is_dictionary) { /* id, index type */
        size_t encoding[2];
        size_t made = pfd_flatbuffer_table(
            out, (struct pfd_flatbuffer_field[]){ number(8, i), link() }, 2,
            encoding);
        pfd_flatbuffer_link(out, at[4], made);
        pfd_flatbuffer_link(out, encoding[1], add_int(out, 32, true));
    }
    pfd_flatbuffer_link(out, at[5], pfd_flatbuffer_vector(out, 0, 4, &first));
    return table;
}

/* Adds the format string, for readers of the file. */
static void add_metadata(struct pfd_table_writer *w, struct pfd_text *out,
                         size_t at)
{
    static const char key[] = "printfdecode.format_string";
    struct state *s = w->state;
    size_t first;
    size_t fields[2];
    pfd_flatbuffer_link(out, at, pfd_flatbuffer_vector(out, 1, 4, &first));
    size_t pair = pfd_flatbuffer_table(
        out, (struct pfd_flatbuffer_field[]){ link(), link() }, 2, fields);
    pfd_flatbuffer_link(out, first, pair);
    pfd_flatbuffer_link(out, fields[0],
                        pfd_flatbuffer_string(out, key, sizeof key - 1));
    s->utf8.n = 0;
    pfd_table_utf8(&s->utf8, w->format, w->n_format);
    pfd_flatbuffer_link(
        out, fields[1],
        pfd_flatbuffer_string(out, s->utf8.n ? s->utf8.data : "", s->utf8.n));
}

/* Schema: endianness, fields, custom_metadata. */
static size_t add_schema(struct pfd_table_writer *w, struct pfd_text *out)
{
    const struct state *s = w->state;
    size_t at[3];
    size_t first;
    size_t table = pfd_flatbuffer_table(
        out, (struct pfd_flatbuffer_field[]){ number(2, 0), link(), link() }, 3,
        at);
    pfd_flatbuffer_link(out, at[1],
                        pfd_flatbuffer_vector(out, w->n_columns, 4, &first));
    for (size_t i = 0; i < w->n_columns; i++) {
        size_t field =
            add_field(out, &w->columns[i], i, s->texts[i].is_dictionary);
        pfd_flatbuffer_link(out, first + 4 * i, field);
    }
    add_metadata(w, out, at[2]);
    return table;
}

/* ---- messages ---- */

static void put(struct pfd_table_writer *w, const void *bytes, size_t n)
{
    struct state *s = w->state;
    pfd_table_target_put(w->table_target, bytes, n);
    s->at += n;
}

static void align(struct pfd_text *text)
{
    static const char zeros[8];
    pfd_text_add(text, zeros, -text->n & 7);
}

/* Message: version, header_type, header, bodyLength. Returns the place of the
 * header's offset. */
static size_t begin_message(struct state *s, uint8_t type)
{
    size_t at[4];
    pfd_flatbuffer_begin(&s->head);
    size_t table = pfd_flatbuffer_table(
        &s->head,
        (struct pfd_flatbuffer_field[]){ number(2, VERSION_V5), number(1, type),
                                         link(), number(8, s->body.n) },
        4, at);
    pfd_flatbuffer_link(&s->head, 0, table);
    return at[2];
}

/* Writes the header and the body; blocks: takes their place, or NULL. */
static void end_message(struct pfd_table_writer *w, struct pfd_text *blocks)
{
    struct state *s = w->state;
    align(&s->head);
    const uint32_t before[2] = { UINT32_MAX, (uint32_t)s->head.n };
    const struct block block = {
        .at = s->at,
        .n_head = (uint32_t)(sizeof before + s->head.n),
        .n_body = s->body.n,
    };
    if (s->head.failed || s->body.failed || s->buffers.failed ||
        s->nodes.failed || s->utf8.failed) {
        pfd_table_target_fail(w->table_target, PFD_ERR_NOMEM, "out of memory");
        return;
    }
    if (blocks)
        pfd_text_add(blocks, &block, sizeof block);
    put(w, before, sizeof before);
    put(w, s->head.data, s->head.n);
    put(w, s->body.data, s->body.n);
}

static void begin_body(struct state *s)
{
    s->body.n = s->buffers.n = s->nodes.n = 0;
}

/* Adds one buffer of the body, which may be empty. */
static void add_buffer(struct state *s, const void *bytes, size_t n)
{
    uint64_t buffer[2] = { s->body.n, n };
    pfd_text_add(&s->body, bytes, n);
    align(&s->body);
    pfd_text_add(&s->buffers, buffer, sizeof buffer);
}

static void add_node(struct state *s, uint64_t n, uint64_t n_nulls)
{
    uint64_t node[2] = { n, n_nulls };
    pfd_text_add(&s->nodes, node, sizeof node);
}

/* RecordBatch: length, nodes, buffers. */
static size_t add_record_batch(struct state *s, uint64_t n_rows)
{
    struct pfd_text *out = &s->head;
    size_t at[3];
    size_t first;
    size_t table = pfd_flatbuffer_table(
        out,
        (struct pfd_flatbuffer_field[]){ number(8, n_rows), link(), link() }, 3,
        at);
    pfd_flatbuffer_link(
        out, at[1], pfd_flatbuffer_vector(out, s->nodes.n / 16, 16, &first));
    if (!out->failed && s->nodes.n)
        memcpy(out->data + first, s->nodes.data, s->nodes.n);
    pfd_flatbuffer_link(
        out, at[2], pfd_flatbuffer_vector(out, s->buffers.n / 16, 16, &first));
    if (!out->failed && s->buffers.n)
        memcpy(out->data + first, s->buffers.data, s->buffers.n);
    return table;
}

static void write_schema(struct pfd_table_writer *w)
{
    struct state *s = w->state;
    begin_body(s);
    size_t header = begin_message(s, HEADER_SCHEMA);
    pfd_flatbuffer_link(&s->head, header, add_schema(w, &s->head));
    end_message(w, NULL);
}

/* DictionaryBatch: id, data. */
static void write_dictionary(struct pfd_table_writer *w, size_t i)
{
    static const uint32_t zero = 0;
    struct state *s = w->state;
    struct texts *t = &s->texts[i];
    size_t at[2];
    begin_body(s);
    add_node(s, t->dictionary.n, 0);
    add_buffer(s, NULL, 0);
    add_buffer(s,
               t->dictionary.n ? t->dictionary.ends.data : (const void *)&zero,
               4 * ((size_t)t->dictionary.n + 1));
    add_buffer(s, t->dictionary.bytes.data, t->dictionary.bytes.n);
    size_t header = begin_message(s, HEADER_DICTIONARY);
    size_t table = pfd_flatbuffer_table(
        &s->head, (struct pfd_flatbuffer_field[]){ number(8, i), link() }, 2,
        at);
    pfd_flatbuffer_link(&s->head, header, table);
    pfd_flatbuffer_link(&s->head, at[1], add_record_batch(s, t->dictionary.n));
    end_message(w, &s->dictionaries);
    t->n_written = t->dictionary.n;
}

/* ---- columns ---- */

/* A text as UTF-8, [*n] bytes. */
static const char *text_of(struct pfd_table_writer *w,
                           const struct pfd_columns *batch, size_t i,
                           size_t row, size_t *n)
{
    struct state *s = w->state;
    const char *text = pfd_columns_text(batch, i, row, n);
    s->utf8.n = 0;
    if (!pfd_table_utf8(&s->utf8, text, *n))
        return text;
    w->counts->escaped++;
    *n = s->utf8.n;
    return s->utf8.data;
}

static void add_validity(struct state *s, const struct pfd_columns *batch,
                         size_t i)
{
    const struct pfd_vector *v = &batch->vectors[i];
    add_node(s, batch->n_rows, v->n_nulls);
    if (!v->n_nulls) {
        add_buffer(s, NULL, 0);
        return;
    }
    size_t at = s->body.n;
    size_t n = (batch->n_rows + 7) / 8;
    char *bits = pfd_text_reserve(&s->body, n);
    if (!bits)
        return;
    memset(bits, 0, n);
    for (size_t row = 0; row < batch->n_rows; row++)
        bits[row / 8] |= (char)((v->nulls.data[row] == 0) << row % 8);
    s->body.n += n;
    align(&s->body);
    uint64_t buffer[2] = { at, n };
    pfd_text_add(&s->buffers, buffer, sizeof buffer);
}

static void add_codes(struct pfd_table_writer *w,
                      const struct pfd_columns *batch, size_t i)
{
    struct state *s = w->state;
    size_t at = s->body.n;
    for (size_t row = 0; row < batch->n_rows; row++) {
        uint32_t code = 0;
        if (!pfd_columns_is_null(batch, i, row)) {
            size_t n;
            const char *text = text_of(w, batch, i, row, &n);
            code = pfd_dictionary_add(&s->texts[i].dictionary, text, n);
        }
        pfd_text_add(&s->body, &code, sizeof code);
    }
    uint64_t buffer[2] = { at, s->body.n - at };
    align(&s->body);
    pfd_text_add(&s->buffers, buffer, sizeof buffer);
}

static void add_plain_texts(struct pfd_table_writer *w,
                            const struct pfd_columns *batch, size_t i)
{
    struct state *s = w->state;
    struct pfd_text bytes = { 0 };
    uint32_t end = 0;
    size_t at = s->body.n;
    pfd_text_add(&s->body, &end, sizeof end);
    for (size_t row = 0; row < batch->n_rows; row++) {
        if (!pfd_columns_is_null(batch, i, row)) {
            size_t n;
            const char *text = text_of(w, batch, i, row, &n);
            pfd_text_add(&bytes, text, n);
        }
        end = (uint32_t)bytes.n;
        pfd_text_add(&s->body, &end, sizeof end);
    }
    uint64_t buffer[2] = { at, s->body.n - at };
    align(&s->body);
    pfd_text_add(&s->buffers, buffer, sizeof buffer);
    add_buffer(s, bytes.data, bytes.n);
    s->body.failed |= bytes.failed;
    pfd_text_free(&bytes);
}

static void add_column(struct pfd_table_writer *w,
                       const struct pfd_columns *batch, size_t i)
{
    struct state *s = w->state;
    add_validity(s, batch, i);
    if (w->columns[i].type != PFD_VALUE_TEXT) {
        add_buffer(s, batch->vectors[i].values.data,
                   batch->n_rows * w->columns[i].n_bytes);
    } else if (s->texts[i].is_dictionary) {
        add_codes(w, batch, i);
    } else {
        add_plain_texts(w, batch, i);
    }
}

/* ---- batches ---- */

/* Decides by the first batch whether a dictionary saves bytes. */
static void choose(struct pfd_table_writer *w, const struct pfd_columns *batch,
                   size_t i)
{
    struct state *s = w->state;
    struct texts *t = &s->texts[i];
    size_t n_texts = batch->n_rows - batch->vectors[i].n_nulls;
    for (size_t row = 0; row < batch->n_rows; row++) {
        size_t n;
        if (pfd_columns_is_null(batch, i, row))
            continue;
        const char *text = pfd_columns_text(batch, i, row, &n);
        pfd_dictionary_add(&t->dictionary, text, n);
    }
    t->is_dictionary =
        t->dictionary.n <= FEW_TEXTS || t->dictionary.n <= n_texts / 2;
    pfd_dictionary_clear(&t->dictionary);
    t->n_written = UINT32_MAX; /* none, not even an empty one */
}

static bool begin(struct pfd_table_writer *w, const struct pfd_columns *batch)
{
    struct state *s = w->state;
    const char *path = w->table_target->path;
    size_t n = path ? strlen(path) : 0;
    s->is_begun = true;
    s->is_file = path && !(n > 7 && !strcmp(path + n - 7, ".arrows"));
    s->texts = calloc(w->n_columns + 1, sizeof *s->texts);
    if (!s->texts) {
        pfd_table_target_fail(w->table_target, PFD_ERR_NOMEM, "out of memory");
        return false;
    }
    for (size_t i = 0; i < w->n_columns; i++) {
        if (w->columns[i].type == PFD_VALUE_TEXT)
            choose(w, batch, i);
    }
    if (s->is_file)
        put(w, file_magic, sizeof file_magic);
    write_schema(w);
    return true;
}

/* Writes the dictionaries that a stream's batch needs and a reader lacks.
 * Computes the codes first, which finds the new texts. */
static void write_news(struct pfd_table_writer *w,
                       const struct pfd_columns *batch)
{
    struct state *s = w->state;
    for (size_t i = 0; i < w->n_columns; i++) {
        struct texts *t = &s->texts[i];
        if (!t->is_dictionary)
            continue;
        if (t->dictionary.n > STREAM_WORDS) {
            pfd_dictionary_clear(&t->dictionary);
            t->n_written = UINT32_MAX;
        }
        uint64_t escaped = w->counts->escaped;
        begin_body(s);
        add_codes(w, batch, i);
        w->counts->escaped = escaped; /* the codes are computed a second time */
        if (t->dictionary.n != t->n_written)
            write_dictionary(w, i);
    }
}

static void check_words(struct pfd_table_writer *w)
{
    const struct state *s = w->state;
    for (size_t i = 0; i < w->n_columns; i++) {
        const struct pfd_dictionary *dictionary = &s->texts[i].dictionary;
        if (dictionary->failed) {
            pfd_table_target_fail(w->table_target, PFD_ERR_NOMEM,
                                  "out of memory");
        } else if (s->is_file && dictionary->bytes.n > FILE_BYTES) {
            pfd_table_target_fail(
                w->table_target, PFD_ERR_UNSUPPORTED,
                "too many different texts for an Arrow file; a "
                "stream (.arrows) can have them");
        }
    }
}

static void arrow_batch(struct pfd_table_writer *w,
                        const struct pfd_columns *batch)
{
    struct state *s = w->state;
    if (!s->is_begun && !begin(w, batch))
        return;
    if (!s->texts)
        return;
    if (!s->is_file)
        write_news(w, batch);
    begin_body(s);
    for (size_t i = 0; i < w->n_columns; i++)
        add_column(w, batch, i);
    size_t header = begin_message(s, HEADER_RECORDS);
    pfd_flatbuffer_link(&s->head, header, add_record_batch(s, batch->n_rows));
    end_message(w, &s->records);
    check_words(w);
}

/* ---- the end ---- */

static void add_blocks(struct pfd_text *out, size_t at,
                       const struct pfd_text *blocks)
{
    size_t first;
    size_t n = blocks->n / sizeof(struct block);
    pfd_flatbuffer_link(
        out, at, pfd_flatbuffer_vector(out, n, sizeof(struct block), &first));
    if (!out->failed && n)
        memcpy(out->data + first, blocks->data, blocks->n);
}

/* Footer: version, schema, dictionaries, recordBatches. */
static void write_footer(struct pfd_table_writer *w)
{
    struct state *s = w->state;
    struct pfd_text *out = &s->head;
    size_t at[4];
    pfd_flatbuffer_begin(out);
    size_t table = pfd_flatbuffer_table(
        out,
        (struct pfd_flatbuffer_field[]){ number(2, VERSION_V5), link(), link(),
                                         link() },
        4, at);
    pfd_flatbuffer_link(out, 0, table);
    pfd_flatbuffer_link(out, at[1], add_schema(w, out));
    add_blocks(out, at[2], &s->dictionaries);
    add_blocks(out, at[3], &s->records);
    align(out);
    if (out->failed || s->records.failed || s->dictionaries.failed) {
        pfd_table_target_fail(w->table_target, PFD_ERR_NOMEM, "out of memory");
        return;
    }
    uint32_t n = (uint32_t)out->n;
    put(w, out->data, out->n);
    put(w, &n, sizeof n);
    put(w, file_magic, 6);
}

static void finish(struct pfd_table_writer *w)
{
    static const uint32_t end[2] = { UINT32_MAX, 0 };
    struct state *s = w->state;
    for (size_t i = 0; i < w->n_columns && s->is_file; i++) {
        if (s->texts[i].is_dictionary)
            write_dictionary(w, i);
    }
    put(w, end, sizeof end);
    if (s->is_file)
        write_footer(w);
}

static void arrow_end(struct pfd_table_writer *w)
{
    struct state *s = w->state;
    if (s->texts && w->table_target->error.code == PFD_OK)
        finish(w);
    for (size_t i = 0; s->texts && i < w->n_columns; i++)
        pfd_dictionary_free(&s->texts[i].dictionary);
    free(s->texts);
    pfd_text_free(&s->records);
    pfd_text_free(&s->dictionaries);
    pfd_text_free(&s->head);
    pfd_text_free(&s->body);
    pfd_text_free(&s->buffers);
    pfd_text_free(&s->nodes);
    pfd_text_free(&s->utf8);
}

const struct pfd_table_form pfd_table_form_arrow = {
    .info = { .name = "arrow",
              .title = "Apache Arrow: a file, or a stream (.arrows, a pipe)",
              .suffixes = ".arrow .arrows .feather .ipc" },
    .state_size = sizeof(struct state),
    .batch = arrow_batch,
    .end = arrow_end,
};
