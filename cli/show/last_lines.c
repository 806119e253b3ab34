/* SPDX-License-Identifier: MIT */
#include "last_lines.h"

#include <stdlib.h>
#include <string.h>

#include "core/output/value_rows.h"
#include "messages.h"
#include "output.h"

/* Of an entry, and of findings behind it. */
struct line {
    struct line *next;
    struct pfd_text text;
};

struct last_lines {
    struct line *first;
    struct line *last;
    uint64_t n;
    uint64_t max;
};

struct last_lines *last_lines_new(uint64_t n)
{
    struct last_lines *ret = calloc(1, sizeof *ret);
    if (ret)
        ret->max = n;
    return ret;
}

static void drop_first(struct last_lines *l)
{
    struct line *line = l->first;
    l->first = line->next;
    if (!l->first)
        l->last = NULL;
    l->n--;
    pfd_text_free(&line->text);
    free(line);
}

void last_lines_free(struct last_lines *l)
{
    while (l && l->first)
        drop_first(l);
    free(l);
}

/* A new line at the end; the oldest one makes way. */
static bool begin_line(struct last_lines *l)
{
    struct line *line = calloc(1, sizeof *line);
    if (!line)
        return false;
    if (l->last) {
        l->last->next = line;
    } else {
        l->first = line;
    }
    l->last = line;
    if (++l->n > l->max)
        drop_first(l);
    return true;
}

static bool take_row(struct last_lines *l, const struct pfd_row *row)
{
    bool is_entry = row->string != PFD_ROW_LINE;
    if ((is_entry || !l->last) && !begin_line(l))
        return false;
    pfd_text_add(&l->last->text, pfd_row_bytes(row, row->line), row->line.n);
    return !l->last->text.failed;
}

bool last_lines_write(void *user, const void *bytes, size_t n)
{
    struct last_lines *l = user;
    const struct pfd_row *row;
    size_t at = 0;
    while ((row = pfd_row_next(bytes, n, &at))) {
        if (!take_row(l, row)) {
            message_error("out of memory");
            return false;
        }
    }
    return true;
}

bool last_lines_end(struct last_lines *l)
{
    for (; l && l->first; drop_first(l)) {
        if (!output_gather(l->first->text.data, l->first->text.n))
            return false;
    }
    return !l || output_flush();
}
