/* SPDX-License-Identifier: MIT */
/* One object a line: a member for each column. Integers that 53-bit readers
 * round are repeated in `exact`, as text; NaN and infinities are texts. */
#include <string.h>

#include "analysis/table/table_form.h"
#include "core/base/escape.h"

/* Readers of JSON that store numbers in 53 bits round larger ones. */
static const uint64_t exact_max = UINT64_C(1) << 53;

static void add_string(struct pfd_text *out, const char *text, size_t n)
{
    char *to = pfd_text_reserve(out, 6 * n + 2);
    if (!to)
        return;
    char *at = to;
    *at++ = '"';
    at = pfd_escape_json(at, text, n);
    *at++ = '"';
    out->n += (size_t)(at - to);
}

static bool is_beyond(const struct pfd_table_column *c, uint64_t wide)
{
    if (c->type == PFD_VALUE_INT)
        wide = (int64_t)wide < 0 ? 0 - wide : wide;
    return (c->type == PFD_VALUE_INT || c->type == PFD_VALUE_UNSIGNED) &&
           wide > exact_max;
}

static void add_number(struct pfd_text *out, const struct pfd_table_column *c,
                       uint64_t bits)
{
    char text[PFD_CELL_ROOM];
    size_t n = (size_t)(pfd_cell_print(text, c, bits) - text);
    bool is_text = c->type == PFD_VALUE_TIME ||
                   (c->type == PFD_VALUE_FLOAT &&
                    (text[n - 1] == 'n' || text[n - 1] == 'f'));
    if (is_text) {
        add_string(out, text, n);
    } else {
        pfd_text_add(out, text, n);
    }
}

static void add_name(struct pfd_text *out, const struct pfd_table_column *c)
{
    add_string(out, c->name, strlen(c->name));
    pfd_text_puts(out, ":");
}

static void add_value(struct pfd_table_writer *w,
                      const struct pfd_columns *batch, size_t i, size_t row)
{
    struct pfd_text *out = &w->table_target->pending;
    if (pfd_columns_is_null(batch, i, row)) {
        pfd_text_puts(out, "null");
    } else if (batch->columns[i].type == PFD_VALUE_TEXT) {
        struct pfd_text utf8 = { 0 };
        size_t n;
        const char *text = pfd_columns_text(batch, i, row, &n);
        w->counts->escaped += pfd_table_utf8(&utf8, text, n);
        add_string(out, utf8.n ? utf8.data : "", utf8.n);
        out->failed |= utf8.failed;
        pfd_text_free(&utf8);
    } else {
        add_number(out, &batch->columns[i], pfd_columns_bits(batch, i, row));
    }
}

/* Repeats the integers that lose digits in most readers. */
static void add_exact(struct pfd_text *out, const struct pfd_columns *batch,
                      size_t row)
{
    bool any = false;
    for (size_t i = 0; i < batch->n_columns; i++) {
        const struct pfd_table_column *c = &batch->columns[i];
        if (c->type == PFD_VALUE_TEXT || pfd_columns_is_null(batch, i, row) ||
            !is_beyond(c, pfd_columns_wide(batch, i, row)))
            continue;
        char text[PFD_CELL_ROOM];
        char *end = pfd_cell_print(text, c, pfd_columns_bits(batch, i, row));
        pfd_text_puts(out, any ? "," : ",\"exact\":{");
        add_name(out, c);
        add_string(out, text, (size_t)(end - text));
        any = true;
    }
    if (any)
        pfd_text_puts(out, "}");
}

static void json_batch(struct pfd_table_writer *w,
                       const struct pfd_columns *batch)
{
    struct pfd_text *out = &w->table_target->pending;
    for (size_t row = 0; row < batch->n_rows; row++) {
        pfd_text_puts(out, "{");
        if (w->n_tables != 1) {
            pfd_text_puts(out, "\"table\":");
            add_string(out, w->name, strlen(w->name));
        }
        for (size_t i = 0; i < batch->n_columns; i++) {
            if (i || w->n_tables != 1)
                pfd_text_puts(out, ",");
            add_name(out, &batch->columns[i]);
            add_value(w, batch, i, row);
        }
        add_exact(out, batch, row);
        pfd_text_puts(out, "}\n");
    }
    pfd_table_target_flush_if_large(w->table_target);
}

const struct pfd_table_form pfd_table_form_json = {
    .info = { .name = "json",
              .title = "an object a line",
              .suffixes = ".json .ndjson .jsonl",
              .holds_all = true },
    .batch = json_batch,
};
