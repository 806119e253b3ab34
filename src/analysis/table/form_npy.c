/* SPDX-License-Identifier: MIT */
/*
 * NumPy's arrays: a structured array with a field for each column, in a .npy
 * file, or one for each table in a .npz archive. Texts are bytes (S) as long as
 * the longest. A row's nulls are bits of the field `nulls`, lowest first; the
 * field exists only if there are nulls.
 *
 * Values are written as they come. Data without a fixed size goes to a second
 * file, without a name; at the end both are merged into the final rows, if the
 * second file has any data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/table_form.h"
#include "analysis/table/zip.h"
#include "core/base/escape.h"

enum {
    ALIGNMENT = 64, /* of the first row, by the format */
    PIECE = 1 << 18,
};

static const char magic[] = "\x93NUMPY";

/* The layout of a column. */
struct field {
    size_t at;    /* offset in the row of values; of texts: their number */
    size_t width; /* bytes of the longest text */
    bool is_text;
    bool any_null;
};

struct state {
    struct field *fields; /* [n_columns] */
    size_t n_values;      /* bytes of a row without texts */
    size_t n_texts;
    bool is_direct; /* values are written in their final place */
    uint64_t n_head;
    uint64_t n_rows;
    struct pfd_table_target values; /* if not direct */
    struct pfd_table_target beside; /* of rows that have texts or nulls */
    bool has_beside;
    bool any_null;
    struct pfd_text row;
    struct pfd_text record;
};

/* Shared by all tables: an archive, if there is one. */
struct file {
    bool is_archive;
    struct pfd_zip zip;
};

static bool fail_memory(struct pfd_table_writer *w)
{
    pfd_table_target_fail(w->table_target, PFD_ERR_NOMEM, "out of memory");
    return false;
}

/* ---- the header ---- */

/* A Python string. */
static void add_name(struct pfd_text *out, const char *name)
{
    pfd_text_puts(out, "'");
    for (; *name; name++) {
        if (*name == '\'' || *name == '\\')
            pfd_text_puts(out, "\\");
        pfd_text_add(out, name, 1);
    }
    pfd_text_puts(out, "'");
}

static void add_type(struct pfd_text *out, const struct pfd_table_column *c,
                     const struct field *f)
{
    static const char letters[] = {
        [PFD_VALUE_INT] = 'i',
        [PFD_VALUE_UNSIGNED] = 'u',
        [PFD_VALUE_FLOAT] = 'f',
    };
    if (c->type == PFD_VALUE_TEXT) {
        pfd_text_printf(out, "'|S%zu'", f->width ? f->width : 1);
    } else if (c->type == PFD_VALUE_TIME) {
        pfd_text_puts(out, "'<M8[ns]'");
    } else {
        pfd_text_printf(out, "'%c%c%u'", c->n_bytes == 1 ? '|' : '<',
                        letters[c->type], c->n_bytes);
    }
}

/* Does the array have this column? Not an empty one of findings. */
static bool is_shown(const struct pfd_table_column *c, const struct field *f)
{
    return c->from != PFD_FROM_FINDINGS || f->width > 0;
}

static const char *nulls_name(const struct pfd_table_writer *w)
{
    for (size_t i = 0; i < w->n_columns; i++) {
        if (!strcmp(w->columns[i].name, "nulls"))
            return "nulls of rows";
    }
    return "nulls";
}

static size_t nulls_bytes(const struct pfd_table_writer *w)
{
    return (w->n_columns + 7) / 8;
}

/* Magic, version 3.0 (the names are UTF-8), length, and a dictionary. */
static void make_head(const struct pfd_table_writer *w, struct pfd_text *out)
{
    const struct state *s = w->state;
    struct pfd_text dict = { 0 };
    bool any = false;
    pfd_text_puts(&dict, "{'descr': [");
    for (size_t i = 0; i < w->n_columns; i++) {
        if (!is_shown(&w->columns[i], &s->fields[i]))
            continue;
        pfd_text_puts(&dict, any ? ", (" : "(");
        any = true;
        add_name(&dict, w->columns[i].name);
        pfd_text_puts(&dict, ", ");
        add_type(&dict, &w->columns[i], &s->fields[i]);
        pfd_text_puts(&dict, ")");
    }
    if (s->any_null) {
        pfd_text_printf(&dict, ", ('%s', '|u1', (%zu,))", nulls_name(w),
                        nulls_bytes(w));
    }
    /* Padded to one length for any number of rows. */
    pfd_text_printf(&dict, "], 'fortran_order': False, 'shape': (%llu,), }",
                    (unsigned long long)s->n_rows);
    size_t n = sizeof magic - 1 + 2 + 4 + dict.n + 1;
    n +=
        (size_t)(20 - snprintf(NULL, 0, "%llu", (unsigned long long)s->n_rows));
    n = (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    uint32_t length = (uint32_t)(n - (sizeof magic - 1) - 2 - 4);
    /* NumPy's limit by default, since 1.24. */
    if (length > 10000)
        w->counts->long_head = length;
    pfd_text_add(out, magic, sizeof magic - 1);
    pfd_text_add(out, "\3\0", 2);
    pfd_text_add(out, &length, sizeof length);
    pfd_text_add(out, dict.n ? dict.data : "", dict.n);
    while (!out->failed && out->n < n - 1)
        pfd_text_puts(out, " ");
    pfd_text_puts(out, "\n");
    out->failed |= dict.failed;
    pfd_text_free(&dict);
}

/* ---- rows on arrival ---- */

static void npy_open(struct pfd_table_writer *w)
{
    struct file *file = w->file;
    const char *path = w->table_target->path;
    size_t n = path ? strlen(path) : 0;
    file->is_archive =
        w->n_tables != 1 || (n > 4 && !strcmp(path + n - 4, ".npz"));
    file->zip.table_target = w->table_target;
    if (file->is_archive && !path) {
        pfd_table_target_fail(w->table_target, PFD_ERR_USAGE,
                              "several arrays need a file: --to FILE.npz");
    }
}

static void npy_begin(struct pfd_table_writer *w)
{
    struct state *s = w->state;
    const struct file *file = w->file;
    bool has_texts = false;
    s->fields = calloc(w->n_columns + 1, sizeof *s->fields);
    if (!s->fields) {
        fail_memory(w);
        return;
    }
    for (size_t i = 0; i < w->n_columns; i++) {
        struct field *f = &s->fields[i];
        f->is_text = w->columns[i].type == PFD_VALUE_TEXT;
        f->at = f->is_text ? s->n_texts++ : s->n_values;
        s->n_values += w->columns[i].n_bytes;
        has_texts |= f->is_text && w->columns[i].from != PFD_FROM_FINDINGS;
    }
    s->is_direct = w->table_target->path && !file->is_archive && !has_texts;
    if (!s->is_direct) {
        if (!pfd_table_target_open_scratch(&s->values))
            w->table_target->error = s->values.error;
        return;
    }
    struct pfd_text head = { 0 };
    make_head(w, &head);
    s->n_head = head.n;
    pfd_table_target_put(w->table_target, head.data, head.n);
    w->table_target->pending.failed |= head.failed;
    pfd_text_free(&head);
}

/* Writes one column's values into the rows. */
static void scatter(char *to, size_t step, const char *from, size_t n_rows,
                    size_t n_bytes)
{
    for (size_t row = 0; row < n_rows; row++, to += step, from += n_bytes) {
        switch (n_bytes) {
        case 4:
            memcpy(to, from, 4);
            break;
        case 8:
            memcpy(to, from, 8);
            break;
        case 2:
            memcpy(to, from, 2);
            break;
        default:
            *to = *from;
            break;
        }
    }
}

/* Writes nulls of types that have a value for them. */
static void mark_nulls(char *to, size_t step, const struct pfd_columns *batch,
                       size_t i)
{
    static const uint16_t nan16 = 0x7e00;
    static const uint32_t nan32 = 0x7fc00000;
    static const uint64_t nan64 = UINT64_C(0x7ff8) << 48;
    static const uint64_t not_a_time = UINT64_C(1) << 63;
    const struct pfd_table_column *c = &batch->columns[i];
    const void *nan = c->type == PFD_VALUE_TIME ? (const void *)&not_a_time
                      : c->n_bytes == 2         ? (const void *)&nan16
                      : c->n_bytes == 4         ? (const void *)&nan32
                                                : (const void *)&nan64;
    if (c->type != PFD_VALUE_FLOAT && c->type != PFD_VALUE_TIME)
        return;
    for (size_t row = 0; row < batch->n_rows; row++) {
        if (pfd_columns_is_null(batch, i, row))
            memcpy(to + row * step, nan, c->n_bytes);
    }
}

static void add_values(struct pfd_table_writer *w,
                       const struct pfd_columns *batch)
{
    struct state *s = w->state;
    struct pfd_table_target *table_target =
        s->is_direct ? w->table_target : &s->values;
    size_t n = batch->n_rows * s->n_values;
    char *to = pfd_text_reserve(&table_target->pending, n + 1);
    if (!to)
        return;
    for (size_t i = 0; i < w->n_columns; i++) {
        if (s->fields[i].is_text)
            continue;
        scatter(to + s->fields[i].at, s->n_values,
                batch->vectors[i].values.data, batch->n_rows,
                w->columns[i].n_bytes);
        if (batch->vectors[i].n_nulls)
            mark_nulls(to + s->fields[i].at, s->n_values, batch, i);
    }
    table_target->pending.n += n;
    pfd_table_target_flush_if_large(table_target);
}

/* {row, bytes that follow, bits of nulls, (bytes, text)...}; false: the row has
 * only values. */
static bool make_record(struct pfd_table_writer *w,
                        const struct pfd_columns *batch, size_t row)
{
    struct state *s = w->state;
    struct pfd_text *out = &s->record;
    bool any = false;
    uint64_t head[2] = { s->n_rows + row, 0 };
    out->n = 0;
    pfd_text_add(out, head, sizeof head);
    char *bits = pfd_text_reserve(out, nulls_bytes(w) + 1);
    if (!bits)
        return false;
    memset(bits, 0, nulls_bytes(w));
    out->n += nulls_bytes(w);
    for (size_t i = 0; i < w->n_columns; i++) {
        bool is_null = pfd_columns_is_null(batch, i, row);
        if (is_null && w->columns[i].from != PFD_FROM_FINDINGS) {
            out->data[sizeof head + i / 8] |= (char)(1 << i % 8);
            s->any_null = true;
            any = true;
        }
        if (!s->fields[i].is_text)
            continue;
        size_t n = 0;
        const char *text = pfd_columns_text(batch, i, row, &n);
        uint32_t n_text = (uint32_t)n;
        pfd_text_add(out, &n_text, sizeof n_text);
        pfd_text_add(out, text, n);
        w->counts->raw += !pfd_is_utf8(text, n);
        s->fields[i].width = n > s->fields[i].width ? n : s->fields[i].width;
        any |= n > 0;
    }
    head[1] = out->n - sizeof head;
    if (!out->failed)
        memcpy(out->data, head, sizeof head);
    return any;
}

static bool has_beside(const struct pfd_table_writer *w,
                       const struct pfd_columns *batch)
{
    const struct state *s = w->state;
    for (size_t i = 0; i < w->n_columns; i++) {
        bool is_findings = w->columns[i].from == PFD_FROM_FINDINGS;
        if (s->fields[i].is_text ? batch->vectors[i].bytes.n > 0
                                 : batch->vectors[i].n_nulls > 0)
            return true;
        if (!is_findings && batch->vectors[i].n_nulls)
            return true;
    }
    return false;
}

static void npy_batch(struct pfd_table_writer *w,
                      const struct pfd_columns *batch)
{
    struct state *s = w->state;
    if (!s->fields)
        return;
    add_values(w, batch);
    if (has_beside(w, batch)) {
        if (!s->has_beside && !pfd_table_target_open_scratch(&s->beside))
            w->table_target->error = s->beside.error;
        s->has_beside = true;
        for (size_t row = 0; row < batch->n_rows; row++) {
            if (make_record(w, batch, row))
                pfd_table_target_put(&s->beside, s->record.data, s->record.n);
        }
        if (s->record.failed)
            fail_memory(w);
    }
    s->n_rows += batch->n_rows;
}

/* ---- the final rows ---- */

/* A file that is read back. */
struct reading {
    struct pfd_table_target *from;
    uint64_t at;
    struct pfd_text piece; /* [n] bytes of it, `used` of them consumed */
    size_t used;
    uint64_t end;
};

/* The next n bytes; NULL: an error. */
static const char *next(struct reading *r, size_t n)
{
    if (!n)
        return "";
    if (r->piece.n - r->used < n) {
        size_t left = r->piece.n - r->used;
        size_t room = n > PIECE ? n : PIECE;
        uint64_t rest = r->end - r->at;
        size_t more = rest < room - left ? (size_t)rest : room - left;
        if (left)
            memmove(r->piece.data, r->piece.data + r->used, left);
        r->piece.n = left;
        r->used = 0;
        char *to = pfd_text_reserve(&r->piece, more + 1);
        if (!to || left + more < n ||
            !pfd_table_target_read(r->from, r->at, to, more))
            return NULL;
        r->piece.n += more;
        r->at += more;
    }
    const char *ret = r->piece.data + r->used;
    r->used += n;
    return ret;
}

static void put_final(struct pfd_table_writer *w,
                      struct pfd_table_target *scratch, const void *bytes,
                      size_t n)
{
    struct file *file = w->file;
    if (file->is_archive) {
        pfd_zip_put(&file->zip, bytes, n);
    } else {
        pfd_table_target_put(scratch ? scratch : w->table_target, bytes, n);
    }
}

/* Makes one row of its values and its record (NULL: it has none). */
static void make_row(const struct pfd_table_writer *w, const char *values,
                     const char *record, struct pfd_text *out)
{
    const struct state *s = w->state;
    const char *text = record ? record + nulls_bytes(w) : NULL;
    out->n = 0;
    for (size_t i = 0; i < w->n_columns; i++) {
        const struct field *f = &s->fields[i];
        size_t n = w->columns[i].n_bytes;
        if (!f->is_text) {
            pfd_text_add(out, values + f->at, n);
            continue;
        }
        uint32_t n_text = 0;
        if (text) {
            memcpy(&n_text, text, sizeof n_text);
            text += sizeof n_text;
        }
        if (is_shown(&w->columns[i], f)) {
            size_t width = f->width ? f->width : 1;
            char *to = pfd_text_reserve(out, width);
            if (!to)
                return;
            memset(to, 0, width);
            if (n_text)
                memcpy(to, text, n_text);
            out->n += width;
        }
        if (text)
            text += n_text;
    }
    if (!s->any_null)
        return;
    char *bits = pfd_text_reserve(out, nulls_bytes(w));
    if (!bits)
        return;
    memset(bits, 0, nulls_bytes(w));
    if (record)
        memcpy(bits, record, nulls_bytes(w));
    out->n += nulls_bytes(w);
}

static bool merge(struct pfd_table_writer *w, struct reading *values,
                  struct reading *beside, struct pfd_table_target *scratch)
{
    struct state *s = w->state;
    uint64_t head[2] = { UINT64_MAX, 0 };
    for (uint64_t row = 0; row < s->n_rows; row++) {
        const char *record = NULL;
        if (head[0] == UINT64_MAX && beside->from &&
            (beside->at < beside->end || beside->used < beside->piece.n)) {
            const char *bytes = next(beside, sizeof head);
            if (!bytes)
                return false;
            memcpy(head, bytes, sizeof head);
        }
        const char *value = next(values, s->n_values);
        if (head[0] == row) {
            record = next(beside, (size_t)head[1]);
            head[0] = UINT64_MAX;
            if (!record)
                return false;
        }
        if (!value)
            return false;
        make_row(w, value, record, &s->row);
        if (s->row.failed)
            return false;
        put_final(w, scratch, s->row.data, s->row.n);
    }
    return true;
}

static uint64_t size_of(struct pfd_table_target *table_target)
{
    return pfd_table_target_flush(table_target)
               ? pfd_table_target_size(table_target)
               : 0;
}

/* Copies a file without a name to its place in the target. */
static void copy_back(struct pfd_table_writer *w,
                      struct pfd_table_target *scratch)
{
    struct reading r = { .from = scratch, .end = size_of(scratch) };
    pfd_table_target_rewind(w->table_target);
    for (uint64_t at = 0; at < r.end;) {
        size_t n = r.end - at < PIECE ? (size_t)(r.end - at) : PIECE;
        const char *bytes = next(&r, n);
        if (!bytes) {
            if (scratch->error.code == PFD_OK)
                fail_memory(w);
            break;
        }
        pfd_table_target_put(w->table_target, bytes, n);
        at += n;
    }
    pfd_text_free(&r.piece);
}

/* Takes the first failure of the two files; without one, memory is
 * exhausted. */
static void fail_reading(struct pfd_table_writer *w)
{
    const struct state *s = w->state;
    const struct pfd_error *why =
        s->values.error.code != PFD_OK ? &s->values.error : &s->beside.error;
    if (w->table_target->error.code == PFD_OK && why->code != PFD_OK)
        w->table_target->error = *why;
    fail_memory(w);
}

static void finish(struct pfd_table_writer *w)
{
    struct state *s = w->state;
    struct file *file = w->file;
    struct pfd_text head = { 0 };
    struct pfd_table_target scratch = { .fd = -1 };
    make_head(w, &head);
    if (head.failed || s->row.failed) {
        fail_memory(w);
    } else if (s->is_direct && !s->has_beside) {
        pfd_table_target_patch(w->table_target, 0, head.data, head.n);
    } else {
        struct pfd_table_target *to = s->is_direct ? &scratch : NULL;
        struct pfd_table_target *from =
            s->is_direct ? w->table_target : &s->values;
        struct reading values = { .from = from,
                                  .at = s->is_direct ? s->n_head : 0,
                                  .end = size_of(from) };
        struct reading beside = { .from = s->has_beside ? &s->beside : NULL };
        beside.end = s->has_beside ? size_of(&s->beside) : 0;
        if (to)
            pfd_table_target_open_scratch(to);
        if (file->is_archive) {
            char name[PFD_COLUMN_NAME + 8];
            snprintf(name, sizeof name, "%s.npy", w->name);
            pfd_zip_begin(&file->zip, name);
        }
        put_final(w, to, head.data, head.n);
        if (!merge(w, &values, &beside, to))
            fail_reading(w);
        if (file->is_archive)
            pfd_zip_end(&file->zip);
        if (to)
            copy_back(w, to);
        pfd_text_free(&values.piece);
        pfd_text_free(&beside.piece);
        if (to && !pfd_table_target_close(to) &&
            w->table_target->error.code == PFD_OK)
            w->table_target->error = to->error;
    }
    pfd_text_free(&head);
}

static void npy_end(struct pfd_table_writer *w)
{
    struct state *s = w->state;
    if (s->fields && w->table_target->error.code == PFD_OK)
        finish(w);
    if (s->values.path)
        pfd_table_target_close(&s->values);
    if (s->beside.path)
        pfd_table_target_close(&s->beside);
    if (w->table_target->error.code == PFD_OK && s->values.error.code != PFD_OK)
        w->table_target->error = s->values.error;
    if (w->table_target->error.code == PFD_OK && s->beside.error.code != PFD_OK)
        w->table_target->error = s->beside.error;
    pfd_text_free(&s->row);
    pfd_text_free(&s->record);
    free(s->fields);
}

static void npy_close(struct pfd_table_writer *w)
{
    struct file *file = w->file;
    if (file->is_archive)
        pfd_zip_close(&file->zip);
}

const struct pfd_table_form pfd_table_form_npy = {
    .info = { .name = "npy",
              .title = "NumPy's structured arrays; --all: .npz",
              .suffixes = ".npy .npz",
              .holds_all = true },
    .state_size = sizeof(struct state),
    .file_size = sizeof(struct file),
    .open = npy_open,
    .begin = npy_begin,
    .batch = npy_batch,
    .end = npy_end,
    .close = npy_close,
};
