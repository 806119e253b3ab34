/* SPDX-License-Identifier: MIT */
/*
 * Arrow's C stream interface (the specification's structs, no library): a stream
 * of one batch, whose buffers are the columns themselves. Consumers may release
 * what they got on any thread and in any order; each part holds the columns.
 * Nothing here but the capsule needs the GIL.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "table.h"

/* ---- the specification's ---- */

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

enum {
    NULLABLE = 2 /* ARROW_FLAG_NULLABLE */
};

/* ---- the schema ---- */

static bool is_utf8_column(const struct columns *c, size_t i)
{
    for (size_t row = 0; row < c->all.n_rows; row++) {
        size_t n;
        const char *text = pfd_columns_text(&c->all, i, row, &n);
        if (!pfd_is_utf8(text, n))
            return false;
    }
    return true;
}

static const char *format_of(const struct columns *c, size_t i)
{
    static const char *const formats[][9] = {
        [PFD_VALUE_INT] = { [1] = "c", [2] = "s", [4] = "i", [8] = "l" },
        [PFD_VALUE_UNSIGNED] = { [1] = "C", [2] = "S", [4] = "I", [8] = "L" },
        [PFD_VALUE_FLOAT] = { [2] = "e", [4] = "f", [8] = "g" },
        [PFD_VALUE_TIME] = { [8] = "tsn:UTC" },
    };
    const struct pfd_table_column *column = &c->types[i];
    if (column->type == PFD_VALUE_TEXT)
        return is_utf8_column(c, i) ? "u" : "z"; /* z: any bytes */
    return formats[column->type][column->n_bytes];
}

static void release_child_schema(struct ArrowSchema *s)
{
    columns_drop(s->private_data);
    s->release = NULL;
}

static void release_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++) {
        if (s->children[i]->release)
            s->children[i]->release(s->children[i]);
    }
    free(s->children);
    free(s->private_data);
    s->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct columns *c = stream->private_data;
    size_t n = c->all.n_columns;
    struct ArrowSchema *own = calloc(n + 1, sizeof *own);
    struct ArrowSchema **children = calloc(n + 1, sizeof(struct ArrowSchema *));
    if (!own || !children) {
        free(own);
        free(children);
        return ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        columns_hold(c);
        own[i] = (struct ArrowSchema){ .format = format_of(c, i),
                                       .name = c->types[i].name,
                                       .flags = NULLABLE,
                                       .release = release_child_schema,
                                       .private_data = c };
        children[i] = &own[i];
    }
    *out = (struct ArrowSchema){ .format = "+s",
                                 .name = "",
                                 .n_children = (int64_t)n,
                                 .children = children,
                                 .release = release_schema,
                                 .private_data = own };
    return 0;
}

/* ---- the batch ---- */

/* What a child owns. It stands by itself: a consumer may move a child out of the
 * batch, and release the batch before it. */
struct owned_array {
    const void *buffers[3];
    uint8_t *valid; /* a bit for each row; NULL: all are */
    struct columns *columns;
};

static void release_child(struct ArrowArray *a)
{
    struct owned_array *own = a->private_data;
    free(own->valid);
    columns_drop(own->columns);
    free(own);
    a->release = NULL;
}

struct owned_batch {
    struct ArrowArray **children; /* [n], into: */
    struct ArrowArray *arrays;    /* [n] */
    const void *buffers[1];
};

/* Children that a consumer moved out are released by themselves. */
static void release_batch(struct ArrowArray *a)
{
    struct owned_batch *batch = a->private_data;
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i]->release)
            a->children[i]->release(a->children[i]);
    }
    free(batch->children);
    free(batch->arrays);
    free(batch);
    a->release = NULL;
}

static uint8_t *valid_bits(const struct pfd_vector *v, size_t n_rows)
{
    uint8_t *bits = calloc(n_rows / 8 + 1, 1);
    for (size_t row = 0; bits && row < n_rows; row++)
        bits[row / 8] |= (uint8_t)(!v->nulls.data[row] << row % 8);
    return bits;
}

/* False: out of memory. */
static bool fill_child(struct columns *c, size_t i, struct ArrowArray *ret)
{
    const struct pfd_vector *v = &c->all.vectors[i];
    bool is_text = !c->types[i].n_bytes;
    static const char none[8];
    struct owned_array *own = calloc(1, sizeof *own);
    if (!own)
        return false;
    own->valid = v->n_nulls ? valid_bits(v, c->all.n_rows) : NULL;
    own->buffers[0] = own->valid;
    own->buffers[1] = v->values.data ? v->values.data : none;
    own->buffers[2] = v->bytes.data ? v->bytes.data : none;
    columns_hold(c);
    own->columns = c;
    *ret = (struct ArrowArray){ .length = (int64_t)c->all.n_rows,
                                .null_count = (int64_t)v->n_nulls,
                                .n_buffers = is_text ? 3 : 2,
                                .buffers = own->buffers,
                                .release = release_child,
                                .private_data = own };
    return !v->n_nulls || own->valid;
}

static int fill_batch(struct columns *c, struct ArrowArray *out)
{
    size_t n = c->all.n_columns;
    struct owned_batch *batch = calloc(1, sizeof *batch);
    if (!batch)
        return ENOMEM;
    batch->arrays = calloc(n + 1, sizeof *batch->arrays);
    batch->children = calloc(n + 1, sizeof(struct ArrowArray *));
    bool ok = batch->arrays && batch->children;
    *out = (struct ArrowArray){ .length = (int64_t)c->all.n_rows,
                                .n_buffers = 1,
                                .buffers = batch->buffers,
                                .children = batch->children,
                                .release = release_batch,
                                .private_data = batch };
    for (size_t i = 0; ok && i < n; i++) {
        ok = fill_child(c, i, &batch->arrays[i]);
        batch->children[i] = &batch->arrays[i];
        out->n_children++;
    }
    if (ok)
        return 0;
    release_batch(out);
    return ENOMEM;
}

/* ---- the stream ---- */

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out);

/* Behind the batch: no more. */
static int get_end(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    *out = (struct ArrowArray){ .release = NULL };
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    int why = fill_batch(stream->private_data, out);
    if (!why)
        stream->get_next = get_end;
    return why;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    return NULL; /* the code says it: out of memory */
}

static void release_stream(struct ArrowArrayStream *stream)
{
    columns_drop(stream->private_data);
    stream->release = NULL;
}

static const char capsule_name[] = "arrow_array_stream";

/* A consumer that took the stream has emptied it. */
static void free_capsule(PyObject *capsule)
{
    struct ArrowArrayStream *stream =
        PyCapsule_GetPointer(capsule, capsule_name);
    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}

PyObject *table_arrow_stream(struct columns *columns)
{
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return PyErr_NoMemory();
    columns_hold(columns);
    *stream = (struct ArrowArrayStream){ .get_schema = get_schema,
                                         .get_next = get_next,
                                         .get_last_error = get_last_error,
                                         .release = release_stream,
                                         .private_data = columns };
    PyObject *ret = PyCapsule_New(stream, capsule_name, free_capsule);
    if (!ret) {
        release_stream(stream);
        free(stream);
    }
    return ret;
}
