/* SPDX-License-Identifier: MIT */
#include "entry_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entry_index_state.h"
#include "input/convert_inputs.h"
#include "show/messages.h"

enum {
    AN_ITEM = sizeof(uint64_t) + sizeof(uint32_t),
    ITEMS_MAX = ENTRY_NUMBER /* numbers of items are 32 bits; of lines, less */
};

/* ---- items ---- */

static bool has_room(struct entry_index *x)
{
    if (x->n < x->room)
        return true;
    size_t room = x->room ? 2 * x->room : 1 << 16;
    void *indexes = realloc(x->indexes, room * sizeof *x->indexes);
    if (indexes)
        x->indexes = indexes;
    void *strings = realloc(x->strings, room * sizeof *x->strings);
    if (strings)
        x->strings = strings;
    if (!indexes || !strings) {
        x->failed = true;
        return false;
    }
    x->room = room;
    return true;
}

static void add_item(struct entry_index *x, uint64_t index, uint32_t string)
{
    if (!has_room(x))
        return;
    x->indexes[x->n] = index;
    x->strings[x->n++] = string;
}

static void add_finding(struct entry_index *x, const struct pfd_row *row)
{
    size_t n_lines = x->line_ends.n / sizeof(size_t);
    uint64_t index = x->n ? x->indexes[x->n - 1] : 0;
    if (!row->line.n)
        return;
    pfd_text_add(&x->lines, pfd_row_bytes(row, row->line), row->line.n);
    pfd_text_add(&x->line_ends, &x->lines.n, sizeof x->lines.n);
    x->failed |= x->lines.failed || x->line_ends.failed;
    add_item(x, index, (uint32_t)n_lines | ENTRY_LINE | ENTRY_FINDING);
}

static bool has_finding(const struct pfd_row *row)
{
    for (uint64_t left = row->findings; left; left &= left - 1) {
        if (!pfd_finding_is_note((enum pfd_finding_kind)__builtin_ctzll(left)))
            return true;
    }
    return row->string == PFD_ROW_NO_STRING;
}

static void add_entry(struct entry_index *x, const struct pfd_row *row)
{
    uint32_t string = string_list_add(&x->names, row, x->in->strings);
    x->failed |= x->names.failed;
    if (x->failed)
        return;
    add_item(x, row->index, string | (has_finding(row) ? ENTRY_FINDING : 0));
}

static bool take_rows(void *user, const void *bytes, size_t n)
{
    struct entry_index *x = user;
    const struct pfd_row *row;
    for (size_t at = 0; !x->failed && (row = pfd_row_next(bytes, n, &at));) {
        if (x->n == x->n_max) {
            x->n_left_out++;
        } else if (row->string == PFD_ROW_LINE) {
            add_finding(x, row);
        } else {
            add_entry(x, row);
        }
    }
    return !x->failed;
}

/* ---- the whole ---- */

struct pfd_convert entry_index_convert(const struct entry_index *x)
{
    return (struct pfd_convert){
        .strings = x->in->strings,
        .format = x->o->reading.format,
        .options = &x->o->reading.decoding,
        .threads = x->o->threads,
        .output = "text",
        .show = (x->shows_origins ? PFD_SHOW_LINE | PFD_SHOW_ORIGIN : 0) |
                (x->in->n_buffers > 1 ? PFD_SHOW_SOURCE : 0),
    };
}

static void begin_buffer(void *user, struct pfd_convert *convert,
                         const struct buffer *buffer)
{
    struct entry_index *x = user;
    (void)convert;
    x->first[buffer - x->in->buffers] = x->n;
}

static bool read_all(struct entry_index *x)
{
    struct pfd_summary total = { 0 };
    struct pfd_convert convert = entry_index_convert(x);
    struct pfd_consumer consumer = {
        .sink = &pfd_sink_rows,
        .take = take_rows,
        .user = x,
    };
    convert.consumer = &consumer;
    convert.inline_findings = true;
    bool ok = convert_each(x->o, x->in, &convert, &total, begin_buffer, x);
    for (size_t i = 0; i < x->in->n_buffers;
         i++) { /* of none after a failure */
        if (i && x->first[i] < x->first[i - 1])
            x->first[i] = x->first[i - 1];
    }
    x->first[x->in->n_buffers] = x->n;
    if (x->failed)
        message_error("out of memory");
    return ok && !x->failed;
}

struct entry_index *entry_index_new(const struct options *options,
                                    struct inputs *inputs, size_t memory_max)
{
    struct entry_index *x = calloc(1, sizeof *x);
    if (x) {
        *x = (struct entry_index){ .o = options, .in = inputs };
        x->n_max = memory_max / AN_ITEM;
        if (x->n_max > ITEMS_MAX)
            x->n_max = ITEMS_MAX;
        x->first = calloc(inputs->n_buffers + 1, sizeof *x->first);
    }
    if (!x || !x->first) {
        message_error("out of memory");
    } else if (inputs_map_streams(inputs) && read_all(x)) {
        return x;
    }
    entry_index_free(x);
    return NULL;
}

void entry_index_free(struct entry_index *x)
{
    if (!x)
        return;
    free(x->indexes);
    free(x->strings);
    free(x->first);
    string_list_free(&x->names);
    pfd_text_free(&x->lines);
    pfd_text_free(&x->line_ends);
    free(x);
}

/* ---- of an item ---- */

size_t entry_index_buffer(const struct entry_index *x, uint32_t item)
{
    size_t low = 0;
    size_t high = x->in->n_buffers;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (x->first[middle] <= item) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

const char *entry_index_line(const struct entry_index *x, uint32_t item,
                             size_t *n)
{
    const size_t *ends = (const void *)x->line_ends.data;
    uint32_t i = x->strings[item] & ENTRY_NUMBER;
    size_t from = i ? ends[i - 1] : 0;
    *n = ends[i] - from;
    return x->lines.data + from;
}
