/* SPDX-License-Identifier: MIT */
/* Aligned columns for people: as wide as the first batch needs, numbers to the
 * right. Later values that are wider break the alignment but are complete. Only
 * where a line's width is given, texts are cut to it, with a mark. */
#include <stdlib.h>
#include <string.h>

#include "analysis/table/table_form.h"
#include "core/base/escape.h"

enum {
    TEXT_MIN = 12, /* characters of a text that remain in the narrowest line */
    GAP = 2,
};

struct state {
    size_t *widths; /* [n_columns]; NULL until the first batch */
    struct pfd_text cell;
};

static size_t characters(const char *text, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((uint8_t)text[i] & 0xc0) != 0x80;
    return count;
}

/* The size in bytes of the first `count` characters. */
static size_t bytes_of(const char *text, size_t n, size_t count)
{
    size_t i = 0;
    for (; i < n; i++) {
        if (((uint8_t)text[i] & 0xc0) != 0x80 && count-- == 0)
            break;
    }
    return i;
}

/* Escapes untrusted text to one line. */
static void make_safe(struct pfd_text *ret, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        const char *at = memchr(text + i, '\n', n - i);
        const char *tab = memchr(text + i, '\t', n - i);
        const char *stop = at && (!tab || at < tab) ? at : tab;
        size_t some = stop ? (size_t)(stop - (text + i)) : n - i;
        char *to = pfd_text_reserve(ret, 4 * some + 2);
        if (!to)
            return;
        char *end = pfd_escape_terminal(to, text + i, some);
        if (stop) {
            *end++ = '\\';
            *end++ = *stop == '\n' ? 'n' : 't';
        }
        ret->n += (size_t)(end - to);
        i += some + (stop != NULL);
    }
}

/* Makes the text of a value, in s->cell. */
static void make_cell(struct state *s, const struct pfd_columns *batch,
                      size_t i, size_t row)
{
    s->cell.n = 0;
    if (pfd_columns_is_null(batch, i, row)) {
        if (batch->columns[i].from != PFD_FROM_FINDINGS)
            pfd_text_puts(&s->cell, "-");
        return;
    }
    if (batch->columns[i].type == PFD_VALUE_TEXT) {
        size_t n;
        const char *text = pfd_columns_text(batch, i, row, &n);
        make_safe(&s->cell, text, n);
        return;
    }
    uint64_t bits = pfd_columns_bits(batch, i, row);
    if (batch->columns[i].is_hex) {
        pfd_text_printf(&s->cell, "0x%llx", (unsigned long long)bits);
        return;
    }
    char *to = pfd_text_reserve(&s->cell, PFD_CELL_ROOM);
    if (to) {
        char *end = pfd_cell_print(to, &batch->columns[i], bits);
        s->cell.n += (size_t)(end - to);
    }
}

static bool is_left(const struct pfd_table_column *c)
{
    return c->type == PFD_VALUE_TEXT || c->type == PFD_VALUE_TIME;
}

/* If lines have a width, the widest texts are cut first. */
static void narrow(const struct pfd_table_writer *w, struct state *s)
{
    size_t sum = 0;
    for (size_t i = 0; i < w->n_columns; i++)
        sum += s->widths[i] + (i ? GAP : 0);
    while (w->width && sum > w->width) {
        size_t widest = SIZE_MAX;
        for (size_t i = 0; i < w->n_columns; i++) {
            if (w->columns[i].type == PFD_VALUE_TEXT &&
                s->widths[i] > TEXT_MIN &&
                (widest == SIZE_MAX || s->widths[i] > s->widths[widest]))
                widest = i;
        }
        if (widest == SIZE_MAX)
            return;
        s->widths[widest]--;
        sum--;
    }
}

static void measure(struct pfd_table_writer *w, struct state *s,
                    const struct pfd_columns *batch)
{
    s->widths = calloc(w->n_columns ? w->n_columns : 1, sizeof *s->widths);
    if (!s->widths) {
        pfd_table_target_fail(w->table_target, PFD_ERR_NOMEM, "out of memory");
        return;
    }
    for (size_t i = 0; i < w->n_columns; i++) {
        const char *name = w->columns[i].name;
        s->widths[i] = characters(name, strlen(name));
        for (size_t row = 0; row < batch->n_rows; row++) {
            make_cell(s, batch, i, row);
            size_t n = s->cell.n ? characters(s->cell.data, s->cell.n) : 0;
            s->widths[i] = n > s->widths[i] ? n : s->widths[i];
        }
    }
    narrow(w, s);
}

static void pad(struct pfd_text *out, size_t n)
{
    char *to = pfd_text_reserve(out, n + 1);
    if (to) {
        memset(to, ' ', n);
        out->n += n;
    }
}

static void add_cell(struct pfd_table_writer *w, const struct state *s,
                     size_t i, const char *text, size_t n)
{
    struct pfd_text *out = &w->table_target->pending;
    size_t shown = characters(text, n);
    size_t width = s->widths[i];
    bool is_last = i + 1 == w->n_columns;
    if (i)
        pad(out, GAP);
    if (w->width && shown > width && w->columns[i].type == PFD_VALUE_TEXT &&
        w->columns[i].from != PFD_FROM_FINDINGS) {
        n = bytes_of(text, n, width - 1);
        pfd_text_add(out, text, n);
        pfd_text_puts(out, "…");
        return;
    }
    size_t blanks = width > shown ? width - shown : 0;
    if (!is_left(&w->columns[i]))
        pad(out, blanks);
    pfd_text_add(out, text, n);
    if (is_left(&w->columns[i]) && !is_last)
        pad(out, blanks);
}

/* Removes spaces at the end of a line. */
static void end_line(struct pfd_text *out)
{
    while (out->n && out->data[out->n - 1] == ' ')
        out->n--;
    pfd_text_puts(out, "\n");
}

static void add_head(struct pfd_table_writer *w, const struct state *s)
{
    for (size_t i = 0; i < w->n_columns; i++)
        add_cell(w, s, i, w->columns[i].name, strlen(w->columns[i].name));
    end_line(&w->table_target->pending);
}

/* "==> ray %u\n <==", if there are several tables. */
static void text_begin(struct pfd_table_writer *w)
{
    struct pfd_text *out = &w->table_target->pending;
    bool *any = w->file;
    if (w->n_tables == 1)
        return;
    pfd_text_puts(out, *any ? "\n==> " : "==> ");
    *any = true;
    make_safe(out, w->format, w->n_format);
    pfd_text_puts(out, " <==\n");
}

static void text_batch(struct pfd_table_writer *w,
                       const struct pfd_columns *batch)
{
    struct state *s = w->state;
    struct pfd_text *out = &w->table_target->pending;
    if (!s->widths) {
        measure(w, s, batch);
        if (!s->widths)
            return;
        add_head(w, s);
    }
    for (size_t row = 0; row < batch->n_rows; row++) {
        for (size_t i = 0; i < w->n_columns; i++) {
            make_cell(s, batch, i, row);
            add_cell(w, s, i, s->cell.n ? s->cell.data : "", s->cell.n);
        }
        end_line(out);
    }
    if (s->cell.failed)
        pfd_table_target_fail(w->table_target, PFD_ERR_NOMEM, "out of memory");
    pfd_table_target_flush_if_large(w->table_target);
}

static void text_end(struct pfd_table_writer *w)
{
    struct state *s = w->state;
    free(s->widths);
    pfd_text_free(&s->cell);
}

const struct pfd_table_form pfd_table_form_text = {
    .info = { .name = "text",
              .title = "aligned columns, as wide as the terminal",
              .suffixes = ".txt",
              .holds_all = true },
    .state_size = sizeof(struct state),
    .file_size = sizeof(bool), /* whether the target has output yet */
    .begin = text_begin,
    .batch = text_batch,
    .end = text_end,
};
