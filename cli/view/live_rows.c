/* SPDX-License-Identifier: MIT */
#include "live_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "details.h"
#include "live_rows_state.h"

enum {
    NAMES_SHARE = 8 /* of the memory one part is for format strings' texts */
};

/* ---- rows ---- */

/* Drops the older half. */
static void drop_old(struct live_rows *live)
{
    size_t n = live_rows_count(live);
    size_t k = n / 2;
    size_t *places = (void *)live->places.data;
    uint32_t *strings = (void *)live->strings.data;
    size_t from = places[k];
    memmove(live->rows.data, live->rows.data + from, live->rows.n - from);
    live->rows.n -= from;
    memmove(strings, strings + k, (n - k) * sizeof *strings);
    live->strings.n = (n - k) * sizeof *strings;
    for (size_t i = 0; i < n - k; i++) {
        places[i] = places[i + k] - from;
        ((struct pfd_row *)(void *)(live->rows.data + places[i]))->source =
            (uint32_t)i;
    }
    live->places.n = (n - k) * sizeof *places;
    live->n_dropped += k;
}

static bool has_failed(const struct live_rows *live)
{
    return live->rows.failed || live->places.failed || live->strings.failed ||
           live->names.failed;
}

/* Copies a row, with the text of its format string: its set of strings changes.
 * text: NULL: it needs none. */
static void keep(struct live_rows *live, const struct pfd_row *row,
                 const char *text, size_t n_text, uint32_t string)
{
    static const char zeros[8];
    size_t at = live->rows.n;
    uint32_t item = (uint32_t)live_rows_count(live);
    pfd_text_add(&live->rows, row, row->n_bytes);
    pfd_text_add(&live->rows, text, text ? n_text : 0);
    pfd_text_add(&live->rows, zeros, -(live->rows.n - at) & 7);
    pfd_text_add(&live->places, &at, sizeof at);
    pfd_text_add(&live->strings, &string, sizeof string);
    if (has_failed(live))
        return;
    struct pfd_row *copy = (struct pfd_row *)(void *)(live->rows.data + at);
    if (text) {
        copy->text = (struct pfd_row_part){ row->n_bytes, (uint32_t)n_text };
        copy->string = PFD_ROW_SYNTHESIZED;
    }
    copy->n_bytes = (uint32_t)(live->rows.n - at);
    copy->source = item;
    if (live->rows.n > live->bytes_max && item > 1)
        drop_old(live);
}

/* A conversion of a batch. */
struct receiving {
    struct live_rows *live;
    const struct pfd_strings *strings;
};

static void take_row(struct receiving *r, const struct pfd_row *row)
{
    struct pfd_string_info info = { 0 };
    bool is_known = row->string < PFD_ROW_NO_STRING;
    if (row->string == PFD_ROW_LINE) {
        keep(r->live, row, NULL, 0, VIEW_NO_STRING);
        return;
    }
    if (is_known)
        pfd_strings_get(r->strings, row->string, &info);
    uint32_t string = is_known ? string_list_add_text(&r->live->names, row,
                                                      info.text, info.n_text)
                               : string_list_add(&r->live->names, row, NULL);
    keep(r->live, row, is_known ? info.text : NULL, info.n_text, string);
}

static bool take_rows(void *user, const void *bytes, size_t n)
{
    struct receiving *r = user;
    const struct pfd_row *row;
    for (size_t at = 0;
         !has_failed(r->live) && (row = pfd_row_next(bytes, n, &at));) {
        if (row->string != PFD_ROW_LINE || row->line.n)
            take_row(r, row);
    }
    return !has_failed(r->live);
}

bool live_rows_take_chunk(struct live_rows *live, const struct live_chunk *b)
{
    struct receiving receiving = { live, b->strings };
    struct pfd_summary summary = { 0 };
    const struct pfd_chunk_bytes chunk = { b->bytes, b->n, b->sequence,
                                           b->time };
    const struct pfd_consumer consumer = {
        .sink = &pfd_sink_rows,
        .pieces = true,
        .take = take_rows,
        .user = &receiving,
    };
    const struct pfd_convert convert = {
        .strings = b->strings,
        .options = b->options,
        .source = b->source,
        .threads = 1,
        .output = "text",
        .inline_findings = true,
        .consumer = &consumer,
        .row_time = b->time,
    };
    pfd_convert_chunks(&convert, &chunk, 1, &summary, NULL);
    return !has_failed(live);
}

bool live_rows_take_gap(struct live_rows *live, uint64_t missed,
                        const char *why)
{
    struct pfd_text out = { 0 };
    size_t row = pfd_rows_begin_line(&out);
    pfd_text_printf(&out, "! gap: %llu missed (%.64s)",
                    (unsigned long long)missed, why);
    pfd_rows_end_line(&out, row);
    live->rows.failed |= out.failed;
    if (!out.failed)
        keep(live, (const void *)out.data, NULL, 0, VIEW_NO_STRING);
    pfd_text_free(&out);
    return !has_failed(live);
}

struct live_rows *live_rows_new(size_t bytes_max, bool (*poll)(void *user),
                                void *user)
{
    struct live_rows *live = calloc(1, sizeof *live);
    if (live) {
        live->bytes_max = bytes_max;
        live->names.bytes_max = bytes_max / NAMES_SHARE;
        live->poll = poll;
        live->poll_user = user;
    }
    return live;
}

void live_rows_free(struct live_rows *live)
{
    if (!live)
        return;
    pfd_text_free(&live->rows);
    pfd_text_free(&live->places);
    pfd_text_free(&live->strings);
    string_list_free(&live->names);
    free(live);
}

/* ---- as a source ---- */

static size_t n_items(const void *source)
{
    return live_rows_count(source);
}

static struct view_item item_of(const void *source, uint32_t number)
{
    const struct pfd_row *row = live_rows_row(source, number);
    struct view_item ret = { .string = live_rows_string(source, number) };
    ret.is_finding =
        row->string == PFD_ROW_LINE || row->string == PFD_ROW_NO_STRING;
    for (uint64_t left = row->findings; left; left &= left - 1) {
        ret.is_finding |=
            !pfd_finding_is_note((enum pfd_finding_kind)__builtin_ctzll(left));
    }
    return ret;
}

static size_t n_strings(const void *source)
{
    const struct live_rows *live = source;
    return live->names.keys.n;
}

static struct view_string string_at(const void *source, uint32_t number)
{
    const struct live_rows *live = source;
    return string_list_get(&live->names, number);
}

static void lines(void *source, const uint32_t *items, size_t n,
                  view_line_fn take, void *user)
{
    for (size_t i = 0; i < n; i++) {
        const struct pfd_row *row = live_rows_row(source, items[i]);
        take(user, items[i], pfd_row_bytes(row, row->line), row->line.n);
    }
}

static void details(void *source, uint32_t item, view_line_fn take, void *user)
{
    const struct live_rows *live = source;
    struct detailed_entry entry = {
        .item = item,
        .row = live_rows_row(live, item),
    };
    uint32_t string = live_rows_string(live, item);
    if (string == VIEW_NO_STRING) {
        lines(source, &item, 1, take, user);
        return;
    }
    entry.string = string_list_get(&live->names, string);
    if (string_list_is_others(&live->names, string)) {
        entry.string.text = pfd_row_bytes(entry.row, entry.row->text);
        entry.string.n_text = entry.row->text.n;
    }
    details_give(&entry, take, user);
}

static void show_origins(void *source, bool shown)
{
    (void)source; /* lines are as they came */
    (void)shown;
}

static bool poll_more(void *source)
{
    struct live_rows *live = source;
    return live->poll(live->poll_user);
}

static uint64_t n_dropped(const void *source)
{
    const struct live_rows *live = source;
    return live->n_dropped;
}

const struct view_source_class live_rows_class = {
    .n_items = n_items,
    .item = item_of,
    .n_strings = n_strings,
    .string = string_at,
    .lines = lines,
    .details = details,
    .filter = live_rows_filter,
    .collapse = live_rows_collapse,
    .show_origins = show_origins,
    .poll = poll_more,
    .n_left_out = n_dropped,
    .n_dropped = n_dropped,
};
