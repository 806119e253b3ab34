/* SPDX-License-Identifier: MIT */
#include "analysis/collapse/value_range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/column.h"
#include "core/print/number_fast.h"

enum {
    SHOWN_MAX = 16, /* ranges in a line of text */
    NEWS_MIN = 64,  /* new values that wait to be merged */
};

/* Readers of JSON that store numbers in 53 bits round larger ones. */
static const uint64_t exact_max = UINT64_C(1) << 53;

/* Maps negative integers below the others. */
static uint64_t ordered(const struct pfd_value_range *s, uint64_t bits)
{
    return s->type == PFD_ARGUMENT_INT ? bits ^ UINT64_C(1) << 63 : bits;
}

static uint64_t hash_text(const struct pfd_row *row,
                          const struct pfd_cell *cell)
{
    if (cell->n_text == PFD_ROW_NULL)
        return 0;
    const char *text = pfd_row_text(row, cell);
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ cell->n_text;
    for (uint32_t i = 0; i < cell->n_text; i++) {
        h = (h ^ (uint8_t)text[i]) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    return h | 1;
}

static uint64_t key_of(const struct pfd_row *row, const struct pfd_cell *cell)
{
    return cell->type == PFD_ARGUMENT_TEXT ? hash_text(row, cell) : cell->bits;
}

/* Keeps only the least and the greatest from now on. */
static void cut(struct pfd_value_range *s, struct pfd_value_range_limit *room)
{
    s->low = UINT64_MAX;
    if (s->n_ranges) {
        s->low = s->ranges[0].from;
        s->high = s->ranges[s->n_ranges - 1].to;
    }
    for (size_t i = 0; i < s->n_pending; i++) {
        s->low = s->pending[i] < s->low ? s->pending[i] : s->low;
        s->high = s->pending[i] > s->high ? s->pending[i] : s->high;
    }
    s->is_cut = true;
    room->n -= s->n_ranges;
    free(s->ranges);
    s->ranges = NULL;
    s->n_ranges = s->n_pending = 0;
}

/* Is the value in one of the merged ranges? */
static bool is_known(const struct pfd_value_range *s, uint64_t v)
{
    size_t low = 0;
    size_t high = s->n_ranges;
    if (!s->ranges)
        return false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->ranges[middle].to < v) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < s->n_ranges && s->ranges[low].from <= v;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Appends a range, or extends the last one. joins: adjacent ranges become
 * one. */
static size_t append(struct pfd_value_range_interval *to, size_t n,
                     struct pfd_value_range_interval r, bool joins)
{
    struct pfd_value_range_interval *last = n ? &to[n - 1] : NULL;
    bool touches =
        last && (r.from <= last->to || (joins && r.from - 1 == last->to));
    if (!touches) {
        to[n] = r;
        return n + 1;
    }
    last->to = r.to > last->to ? r.to : last->to;
    return n;
}

/* Merges new values into the ranges. */
static void merge(struct pfd_value_range *s, struct pfd_value_range_limit *room)
{
    bool joins = s->type != PFD_ARGUMENT_TEXT;
    size_t most = s->n_ranges + s->n_pending;
    if (!s->n_pending)
        return;
    if (room->n + s->n_pending > room->max) {
        cut(s, room);
        return;
    }
    struct pfd_value_range_interval *all = malloc(most * sizeof *all);
    if (!all) {
        room->failed = true;
        return;
    }
    qsort(s->pending, s->n_pending, sizeof *s->pending, compare);
    size_t n = 0;
    size_t old = 0;
    for (size_t i = 0; i < s->n_pending; i++) {
        while (old < s->n_ranges && s->ranges[old].from <= s->pending[i])
            n = append(all, n, s->ranges[old++], joins);
        n = append(
            all, n,
            (struct pfd_value_range_interval){ s->pending[i], s->pending[i] },
            joins);
    }
    while (old < s->n_ranges)
        n = append(all, n, s->ranges[old++], joins);
    room->n += n;
    room->n -= s->n_ranges;
    free(s->ranges);
    s->ranges = all;
    s->n_ranges = n;
    s->n_pending = 0;
}

/* Reserves space for about as many new values as there are ranges, since each
 * merge costs the sum of both. */
static bool reserve(struct pfd_value_range *s,
                    struct pfd_value_range_limit *room)
{
    size_t most = s->n_ranges < NEWS_MIN ? NEWS_MIN : s->n_ranges;
    if (s->n_pending < s->pending_room)
        return true;
    if (s->n_pending >= most) {
        merge(s, room);
        return !s->is_cut && !room->failed;
    }
    size_t n = s->pending_room ? 2 * s->pending_room : 1;
    uint64_t *news = realloc(s->pending, n * sizeof *news);
    if (!news) {
        room->failed = true;
        return false;
    }
    s->pending = news;
    s->pending_room = n;
    return true;
}

static void add_value(struct pfd_value_range *s, uint64_t v,
                      struct pfd_value_range_limit *room)
{
    struct pfd_value_range_interval *last =
        s->n_ranges ? &s->ranges[s->n_ranges - 1] : NULL;
    if (!s->is_cut && !s->n_pending && last && s->type != PFD_ARGUMENT_TEXT &&
        last->to != UINT64_MAX && v == last->to + 1) {
        last->to = v; /* values mostly come in order */
        return;
    }
    if (!s->is_cut && (is_known(s, v) || !reserve(s, room)) && !s->is_cut)
        return;
    if (s->is_cut) {
        s->low = v < s->low ? v : s->low;
        s->high = v > s->high ? v : s->high;
        return;
    }
    s->pending[s->n_pending++] = v;
}

static void add_float(struct pfd_value_range *s, const struct pfd_cell *cell)
{
    double d = pfd_float_value(cell->bits, cell->n_bytes);
    if (isnan(d)) {
        s->n_nans++;
        return;
    }
    if (!s->n || d < s->least || (d == 0 && s->least == 0 && signbit(d)))
        s->least = d;
    if (!s->n || d > s->greatest || (d == 0 && s->greatest == 0 && !signbit(d)))
        s->greatest = d;
    s->n++;
}

void pfd_value_range_begin(struct pfd_value_range *s, const struct pfd_row *row,
                           const struct pfd_cell *cell,
                           struct pfd_value_range_limit *room)
{
    *s = (struct pfd_value_range){
        .type = cell->type,
        .n_bytes = cell->n_bytes,
        .conversion = cell->conversion,
    };
    s->first = key_of(row, cell);
    pfd_value_range_add(s, row, cell, room);
}

void pfd_value_range_add(struct pfd_value_range *s, const struct pfd_row *row,
                         const struct pfd_cell *cell,
                         struct pfd_value_range_limit *room)
{
    uint64_t key = key_of(row, cell);
    if (cell->type != s->type || cell->n_bytes != s->n_bytes) {
        s->is_mixed = s->varies = true;
        return;
    }
    s->varies |= key != s->first;
    if (s->type == PFD_ARGUMENT_FLOAT) {
        add_float(s, cell);
    } else if (s->type != PFD_CELL_ABSENT) {
        s->n++;
        add_value(s, ordered(s, key), room);
    }
}

void pfd_value_range_end(struct pfd_value_range *s,
                         struct pfd_value_range_limit *room)
{
    merge(s, room);
}

void pfd_value_range_free(struct pfd_value_range *s,
                          struct pfd_value_range_limit *room)
{
    room->n -= s->n_ranges;
    free(s->ranges);
    free(s->pending);
    *s = (struct pfd_value_range){ 0 };
}

/* ---- as text ---- */

static void add_integer(const struct pfd_value_range *s, uint64_t v,
                        struct pfd_text *out)
{
    char *to = pfd_text_reserve(out, PFD_CELL_ROOM);
    char c = (char)(s->conversion | 0x20);
    if (!to)
        return;
    char *end = to;
    v = ordered(s, v);
    if (s->type == PFD_ARGUMENT_INT) {
        end = pfd_put_i64(end, (int64_t)v);
    } else if (c == 'x' || c == 'p') {
        *end++ = '0';
        *end++ = 'x';
        end = pfd_put_hex64(end, v);
    } else {
        end = pfd_put_u64(end, v);
    }
    out->n += (size_t)(end - to);
}

static void add_number(const struct pfd_value_range *s, double d,
                       struct pfd_text *out)
{
    char text[PFD_CELL_ROOM];
    float f = (float)d;
    uint64_t bits = 0;
    struct pfd_table_column c = { .type = PFD_VALUE_FLOAT, .n_bytes = 8 };
    memcpy(&bits, &d, sizeof d);
    if (s->n_bytes != 8) { /* as short as the argument's type allows */
        c.n_bytes = 4;
        bits = 0;
        memcpy(&bits, &f, sizeof f);
    }
    pfd_text_add(out, text, (size_t)(pfd_cell_print(text, &c, bits) - text));
}

static void add_ranges(const struct pfd_value_range *s, struct pfd_text *out)
{
    for (size_t i = 0; i < s->n_ranges && i < SHOWN_MAX; i++) {
        const struct pfd_value_range_interval *r = &s->ranges[i];
        pfd_text_puts(out, i ? ", " : "");
        add_integer(s, r->from, out);
        if (r->to != r->from) {
            pfd_text_puts(out, "–");
            add_integer(s, r->to, out);
        }
    }
    if (s->n_ranges > SHOWN_MAX) {
        pfd_text_printf(out, ", … %zu more to ", s->n_ranges - SHOWN_MAX);
        add_integer(s, s->ranges[s->n_ranges - 1].to, out);
    }
}

static void add_floats(const struct pfd_value_range *s, struct pfd_text *out)
{
    if (s->n) {
        add_number(s, s->least, out);
        pfd_text_puts(out, "…");
        add_number(s, s->greatest, out);
    }
    if (s->n_nans) {
        pfd_text_printf(out, "%s%llu NaN", s->n ? ", " : "",
                        (unsigned long long)s->n_nans);
    }
}

void pfd_value_range_text(const struct pfd_value_range *s, struct pfd_text *out)
{
    pfd_text_puts(out, "[");
    if (s->is_mixed || s->type == PFD_CELL_ABSENT) {
        pfd_text_puts(out, "various");
    } else if (s->type == PFD_ARGUMENT_TEXT) {
        if (s->is_cut) {
            pfd_text_puts(out, "very many distinct");
        } else {
            pfd_text_printf(out, "%zu distinct", s->n_ranges);
        }
    } else if (s->type == PFD_ARGUMENT_FLOAT) {
        add_floats(s, out);
    } else if (s->is_cut) {
        add_integer(s, s->low, out);
        pfd_text_puts(out, "…");
        add_integer(s, s->high, out);
        pfd_text_puts(out, ", not all");
    } else {
        add_ranges(s, out);
    }
    pfd_text_puts(out, "]");
}

/* ---- as JSON ---- */

/* Adds an integer, as text where readers would round it. */
static void add_json_integer(const struct pfd_value_range *s, uint64_t v,
                             struct pfd_text *out)
{
    struct pfd_value_range decimal = { .type = s->type };
    uint64_t bits = ordered(s, v);
    uint64_t size =
        s->type == PFD_ARGUMENT_INT && (int64_t)bits < 0 ? 0 - bits : bits;
    pfd_text_puts(out, size > exact_max ? "\"" : "");
    add_integer(&decimal, v, out);
    pfd_text_puts(out, size > exact_max ? "\"" : "");
}

static void add_json_number(const struct pfd_value_range *s, double d,
                            struct pfd_text *out)
{
    pfd_text_puts(out, isfinite(d) ? "" : "\"");
    add_number(s, d, out);
    pfd_text_puts(out, isfinite(d) ? "" : "\"");
}

static void add_json_floats(const struct pfd_value_range *s,
                            struct pfd_text *out)
{
    pfd_text_puts(out, "{");
    if (s->n) {
        pfd_text_puts(out, "\"min\":");
        add_json_number(s, s->least, out);
        pfd_text_puts(out, ",\"max\":");
        add_json_number(s, s->greatest, out);
        pfd_text_puts(out, ",");
    }
    pfd_text_printf(out, "\"count\":%llu,\"nan\":%llu}",
                    (unsigned long long)s->n, (unsigned long long)s->n_nans);
}

static void add_json_ranges(const struct pfd_value_range *s,
                            struct pfd_text *out)
{
    pfd_text_puts(out, "{\"ranges\":[");
    for (size_t i = 0; i < s->n_ranges; i++) {
        pfd_text_puts(out, i ? ",[" : "[");
        add_json_integer(s, s->ranges[i].from, out);
        pfd_text_puts(out, ",");
        add_json_integer(s, s->ranges[i].to, out);
        pfd_text_puts(out, "]");
    }
    pfd_text_puts(out, "]}");
}

void pfd_value_range_json(const struct pfd_value_range *s, struct pfd_text *out)
{
    if (!s->varies) {
        pfd_text_puts(out, "null");
    } else if (s->is_mixed || s->type == PFD_CELL_ABSENT ||
               (s->is_cut && s->type == PFD_ARGUMENT_TEXT)) {
        pfd_text_puts(out, "{\"various\":true}");
    } else if (s->type == PFD_ARGUMENT_TEXT) {
        pfd_text_printf(out, "{\"distinct\":%zu}", s->n_ranges);
    } else if (s->type == PFD_ARGUMENT_FLOAT) {
        add_json_floats(s, out);
    } else if (s->is_cut) {
        pfd_text_puts(out, "{\"min\":");
        add_json_integer(s, s->low, out);
        pfd_text_puts(out, ",\"max\":");
        add_json_integer(s, s->high, out);
        pfd_text_printf(out, ",\"count\":%llu}", (unsigned long long)s->n);
    } else {
        add_json_ranges(s, out);
    }
}
