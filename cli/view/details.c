/* SPDX-License-Identifier: MIT */
#include "details.h"

#include <stdio.h>
#include <string.h>

#include "analysis/table/schema.h"
#include "core/base/safe_line.h"

/* The lines so far, and the one at hand. */
struct page {
    const struct detailed_entry *entry;
    view_line_fn take;
    void *user;
    struct pfd_text text;
};

static void give(struct page *p, const char *name, const char *value, size_t n)
{
    p->text.n = 0;
    pfd_text_printf(&p->text, "%-12s ", name);
    pfd_text_add_safe_line(&p->text, value, n);
    if (!p->text.failed)
        p->take(p->user, p->entry->item, p->text.data, p->text.n);
}

static void give_number(struct page *p, const char *name, uint64_t value)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    give(p, name, text, (size_t)n);
}

static void give_hex(struct page *p, const char *name, uint64_t value)
{
    char text[32];
    int n = snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    give(p, name, text, (size_t)n);
}

static void give_column(struct page *p, const struct pfd_columns *batch,
                        size_t i)
{
    const struct pfd_table_column *c = &batch->columns[i];
    char value[PFD_CELL_ROOM];
    size_t n = 0;
    if (pfd_columns_is_null(batch, i, 0))
        return;
    if (c->type == PFD_VALUE_TEXT) {
        const char *text = pfd_columns_text(batch, i, 0, &n);
        give(p, c->name, text, n);
    } else if (c->is_hex) {
        give_hex(p, c->name, pfd_columns_bits(batch, i, 0));
    } else {
        char *end = pfd_cell_print(value, c, pfd_columns_bits(batch, i, 0));
        give(p, c->name, value, (size_t)(end - value));
    }
}

/* The columns that a table of this row would have. */
static void give_columns(struct page *p)
{
    const struct pfd_row *row = p->entry->row;
    struct pfd_table_counts counts = { 0 };
    struct pfd_schema schema;
    struct pfd_columns batch = { 0 };
    const struct pfd_schema_spec spec = { .strings = p->entry->strings };
    if (pfd_schema_init(&schema, &spec, row, row->n_bytes) &&
        pfd_columns_init(&batch, schema.columns, schema.n)) {
        pfd_schema_fill(&schema, &batch, row, "", &counts);
        for (size_t i = 0; i < schema.n && !pfd_columns_failed(&batch); i++)
            give_column(p, &batch, i);
    }
    pfd_columns_deinit(&batch);
    pfd_schema_deinit(&schema);
}

void details_give(const struct detailed_entry *entry, view_line_fn take,
                  void *user)
{
    struct page p = { .entry = entry, .take = take, .user = user };
    const struct pfd_row *row = entry->row;
    const char *line = pfd_row_bytes(row, row->line);
    size_t n = row->line.n;
    while (n && line[n - 1] == '\n')
        n--;
    give(&p, "line", line, n);
    give(&p, "format", entry->string.text, entry->string.n_text);
    give_columns(&p);
    give_hex(&p, "id", row->id);
    give_number(&p, "offset", row->offset);
    if (entry->source)
        give(&p, "source", entry->source, strlen(entry->source));
    pfd_text_free(&p.text);
}
