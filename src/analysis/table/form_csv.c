/* SPDX-License-Identifier: MIT */
/* CSV after RFC 4180, with a header, and TSV: fields with tabs between, in
 * which tab, newline, carriage return and backslash are \t, \n, \r and \\. Null
 * is an empty field, an empty text is one in quotes (CSV), NaN is nan. */
#include <string.h>

#include "analysis/table/table_form.h"

static void put(struct pfd_text *out, char c)
{
    pfd_text_add(out, &c, 1);
}

static bool wants_quotes(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == ',' || text[i] == '"' || text[i] == '\n' ||
            text[i] == '\r')
            return true;
    }
    return n == 0 || text[0] == ' ' || text[n - 1] == ' ';
}

static void add_quoted(struct pfd_text *out, const char *text, size_t n)
{
    if (!wants_quotes(text, n)) {
        pfd_text_add(out, text, n);
        return;
    }
    put(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            put(out, '"');
        put(out, text[i]);
    }
    put(out, '"');
}

static void add_escaped(struct pfd_text *out, const char *text, size_t n)
{
    static const char from[] = "\t\n\r\\";
    static const char to[] = "tnr\\";
    for (size_t i = 0; i < n; i++) {
        const char *at = text[i] ? strchr(from, text[i]) : NULL;
        if (at)
            put(out, '\\');
        put(out, at ? to[at - from] : text[i]);
    }
}

static void add_text(struct pfd_table_writer *w, char between, const char *text,
                     size_t n)
{
    struct pfd_text *out = &w->table_target->pending;
    struct pfd_text utf8 = { 0 };
    w->counts->escaped += pfd_table_utf8(&utf8, text, n);
    if (between == ',') {
        add_quoted(out, utf8.n ? utf8.data : "", utf8.n);
    } else {
        add_escaped(out, utf8.n ? utf8.data : "", utf8.n);
    }
    out->failed |= utf8.failed;
    pfd_text_free(&utf8);
}

static void begin(struct pfd_table_writer *w, char between)
{
    for (size_t i = 0; i < w->n_columns; i++) {
        if (i)
            put(&w->table_target->pending, between);
        add_text(w, between, w->columns[i].name, strlen(w->columns[i].name));
    }
    put(&w->table_target->pending, '\n');
}

static void add_value(struct pfd_table_writer *w, char between,
                      const struct pfd_columns *batch, size_t i, size_t row)
{
    const struct pfd_table_column *c = &batch->columns[i];
    struct pfd_text *out = &w->table_target->pending;
    if (pfd_columns_is_null(batch, i, row))
        return;
    if (c->type == PFD_VALUE_TEXT) {
        size_t n;
        const char *text = pfd_columns_text(batch, i, row, &n);
        add_text(w, between, text, n);
        return;
    }
    char *to = pfd_text_reserve(out, PFD_CELL_ROOM);
    if (to) {
        char *end = pfd_cell_print(to, c, pfd_columns_bits(batch, i, row));
        out->n += (size_t)(end - to);
    }
}

static void add_batch(struct pfd_table_writer *w,
                      const struct pfd_columns *batch, char between)
{
    for (size_t row = 0; row < batch->n_rows; row++) {
        for (size_t i = 0; i < batch->n_columns; i++) {
            if (i)
                put(&w->table_target->pending, between);
            add_value(w, between, batch, i, row);
        }
        put(&w->table_target->pending, '\n');
    }
    pfd_table_target_flush_if_large(w->table_target);
}

static void csv_begin(struct pfd_table_writer *w)
{
    begin(w, ',');
}

static void csv_batch(struct pfd_table_writer *w,
                      const struct pfd_columns *batch)
{
    add_batch(w, batch, ',');
}

static void tsv_begin(struct pfd_table_writer *w)
{
    begin(w, '\t');
}

static void tsv_batch(struct pfd_table_writer *w,
                      const struct pfd_columns *batch)
{
    add_batch(w, batch, '\t');
}

const struct pfd_table_form pfd_table_form_csv = {
    .info = { .name = "csv",
              .title = "comma-separated values with a header (RFC 4180)",
              .suffixes = ".csv" },
    .begin = csv_begin,
    .batch = csv_batch,
};

const struct pfd_table_form pfd_table_form_tsv = {
    .info = { .name = "tsv",
              .title = "the same with tabs between",
              .suffixes = ".tsv .tab" },
    .begin = tsv_begin,
    .batch = tsv_batch,
};
