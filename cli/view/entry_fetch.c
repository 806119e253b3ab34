/* SPDX-License-Identifier: MIT */
/* Decodes entries of an index again: their lines, and everything about one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "details.h"
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

/* Gives findings between entries that stand before the next row. */
static void give_findings(struct wanted *w)
{
    for (; w->next < w->n && is_line(w->index, w->items[w->next]); w->next++) {
        size_t n;
        const char *line = entry_index_line(w->index, w->items[w->next], &n);
        w->line(w->user, w->items[w->next], line, n);
    }
}

/* Rows come in the order of the items; rows that are wanted twice do not. */
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

static void give_details(struct wanted *w, uint32_t item,
                         const struct pfd_row *row)
{
    const struct entry_index *x = w->index;
    const struct detailed_entry entry = {
        .item = item,
        .row = row,
        .strings = x->in->strings,
        .string = string_list_get(&x->names, x->strings[item] & ENTRY_NUMBER),
        .source = x->in->buffers[entry_index_buffer(x, item)].name,
    };
    details_give(&entry, w->line, w->user);
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
