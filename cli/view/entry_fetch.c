/* SPDX-License-Identifier: MIT */
/* Decodes entries of an index again: their lines, and everything about one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/schema.h"
#include "core/base/escape.h"
#include "core/decode/inspect.h"
#include "entry_index_state.h"
#include "input/convert_inputs.h"

/* Entries of one buffer that are wanted, items [n] of it. */
struct wanted {
    const struct entry_index *index;
    const uint32_t *items; /* [n] */
    size_t n;
    size_t next; /* the first one that has not come */
    void (*take)(struct wanted *w, uint32_t item, const struct pfd_row *row);
    view_line_fn line;
    void *user;
};

static bool is_line(const struct entry_index *x, uint32_t item)
{
    return x->strings[item] & ENTRY_LINE;
}

/* Gives findings between entries that stand before what comes. */
static void give_findings(struct wanted *w)
{
    for (; w->next < w->n && is_line(w->index, w->items[w->next]); w->next++) {
        size_t n;
        const char *line = entry_index_line(w->index, w->items[w->next], &n);
        w->line(w->user, w->items[w->next], line, n);
    }
}

/* Rows come in the order of the items; those that are wanted twice are not. */
static bool take_rows(void *user, const void *bytes, size_t n)
{
    struct wanted *w = user;
    const struct pfd_row *row;
    for (size_t at = 0; (row = pfd_row_next(bytes, n, &at));) {
        if (row->string == PFD_ROW_LINE)
            continue;
        give_findings(w);
        if (w->next == w->n)
            return false;
        uint32_t item = w->items[w->next];
        if (w->index->indexes[item] == row->index) {
            w->take(w, item, row);
            w->next++;
        }
    }
    give_findings(w);
    return w->next < w->n;
}

static void add_range(struct pfd_text *ranges, uint64_t index)
{
    size_t n = ranges->n / sizeof(struct pfd_range);
    struct pfd_range *all = (void *)ranges->data;
    struct pfd_range one = { index, index + 1 };
    if (n && index >= all[n - 1].from && index <= all[n - 1].to) {
        if (index == all[n - 1].to)
            all[n - 1].to++;
        return;
    }
    pfd_text_add(ranges, &one, sizeof one);
}

/* Converts the wanted entries of one buffer. */
static void fetch(struct wanted *w, size_t buffer)
{
    const struct entry_index *x = w->index;
    struct pfd_summary summary = { 0 };
    struct pfd_text ranges = { 0 };
    struct pfd_consumer consumer = {
        .sink = &pfd_sink_rows,
        .take = take_rows,
        .user = w,
    };
    struct pfd_convert convert = entry_index_convert(x);
    for (size_t i = 0; i < w->n; i++) {
        if (!is_line(x, w->items[i]))
            add_range(&ranges, x->indexes[w->items[i]]);
    }
    convert.consumer = &consumer;
    convert.threads = 1; /* others cost more than a screen */
    convert.ranges = (const void *)ranges.data;
    convert.n_ranges = ranges.n / sizeof(struct pfd_range);
    if (ranges.n && !ranges.failed)
        convert_quietly(x->o, &convert, &x->in->buffers[buffer], &summary);
    give_findings(w);
    pfd_text_free(&ranges);
}

static void fetch_all(struct wanted *w, const uint32_t *items, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t buffer = entry_index_buffer(w->index, items[i]);
        size_t end = i;
        while (end < n && items[end] < w->index->first[buffer + 1])
            end++;
        w->items = items + i;
        w->n = end - i;
        w->next = 0;
        fetch(w, buffer);
        i = end > i ? end : i + 1;
    }
}

static void give_line(struct wanted *w, uint32_t item,
                      const struct pfd_row *row)
{
    w->line(w->user, item, pfd_row_bytes(row, row->line), row->line.n);
}

void entry_index_lines(void *index, const uint32_t *items, size_t n,
                       view_line_fn take, void *user)
{
    struct wanted w = {
        .index = index,
        .take = give_line,
        .line = take,
        .user = user,
    };
    fetch_all(&w, items, n);
}

/* ---- everything about one ---- */

/* Adds foreign text, in one line. */
static void add_safe(struct pfd_text *out, const char *text, size_t n)
{
    for (size_t from = 0; from <= n;) {
        const char *end = memchr(text + from, '\n', n - from);
        size_t to = end ? (size_t)(end - text) : n;
        char *at = pfd_text_reserve(out, 4 * (to - from) + 1);
        if (!at)
            return;
        out->n +=
            (size_t)(pfd_escape_terminal(at, text + from, to - from) - at);
        pfd_text_puts(out, end ? "\\n" : "");
        from = to + 1;
    }
}

static void give_text(struct wanted *w, uint32_t item, struct pfd_text *text)
{
    if (!text->failed)
        w->line(w->user, item, text->data ? text->data : "", text->n);
    text->n = 0;
}

static void give_name(struct wanted *w, uint32_t item, struct pfd_text *text,
                      const char *name, const char *value, size_t n)
{
    pfd_text_printf(text, "%-12s ", name);
    add_safe(text, value, n);
    give_text(w, item, text);
}

static void give_column(struct wanted *w, uint32_t item, struct pfd_text *text,
                        const struct pfd_columns *batch, size_t i)
{
    const struct pfd_table_column *c = &batch->columns[i];
    char value[PFD_CELL_ROOM];
    size_t n = 0;
    const char *at = value;
    if (pfd_columns_is_null(batch, i, 0))
        return;
    if (c->type == PFD_VALUE_TEXT) {
        at = pfd_columns_text(batch, i, 0, &n);
    } else if (c->is_hex) {
        n = (size_t)snprintf(value, sizeof value, "0x%llx",
                             (unsigned long long)pfd_columns_bits(batch, i, 0));
    } else {
        n = (size_t)(pfd_cell_print(value, c, pfd_columns_bits(batch, i, 0)) -
                     value);
    }
    give_name(w, item, text, c->name, at, n);
}

/* The columns that a table of this row would have. */
static void give_columns(struct wanted *w, uint32_t item, struct pfd_text *text,
                         const struct pfd_row *row)
{
    struct pfd_table_counts counts = { 0 };
    struct pfd_schema schema;
    struct pfd_columns batch = { 0 };
    const struct pfd_schema_spec spec = { .strings = w->index->in->strings };
    if (pfd_schema_init(&schema, &spec, row, row->n_bytes) &&
        pfd_columns_init(&batch, schema.columns, schema.n)) {
        pfd_schema_fill(&schema, &batch, row, "", &counts);
        for (size_t i = 0; i < schema.n && !pfd_columns_failed(&batch); i++)
            give_column(w, item, text, &batch, i);
    }
    pfd_columns_deinit(&batch);
    pfd_schema_deinit(&schema);
}

static void give_details(struct wanted *w, uint32_t item,
                         const struct pfd_row *row)
{
    const struct entry_index *x = w->index;
    struct pfd_text text = { 0 };
    char number[32];
    struct view_string s =
        string_list_get(&x->names, x->strings[item] & ENTRY_NUMBER);
    const char *source = x->in->buffers[entry_index_buffer(x, item)].name;
    give_name(w, item, &text, "line", pfd_row_bytes(row, row->line),
              row->line.n &&
                      pfd_row_bytes(row, row->line)[row->line.n - 1] == '\n'
                  ? row->line.n - 1
                  : row->line.n);
    give_name(w, item, &text, "format", s.text, s.n_text);
    give_columns(w, item, &text, row);
    int n = snprintf(number, sizeof number, "0x%012llx",
                     (unsigned long long)row->id);
    give_name(w, item, &text, "id", number, (size_t)n);
    n = snprintf(number, sizeof number, "%llu",
                 (unsigned long long)row->offset);
    give_name(w, item, &text, "offset", number, (size_t)n);
    give_name(w, item, &text, "source", source, strlen(source));
    pfd_text_free(&text);
}

void entry_index_details(void *index, uint32_t item, view_line_fn take,
                         void *user)
{
    struct wanted w = {
        .index = index,
        .take = give_details,
        .line = take,
        .user = user,
    };
    fetch_all(&w, &item, 1);
}
