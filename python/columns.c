/* SPDX-License-Identifier: MIT */
#include "columns.h"

#include <stdlib.h>
#include <string.h>

void columns_hold(struct columns *c)
{
    atomic_fetch_add(&c->n_holders, 1);
}

void columns_drop(struct columns *c)
{
    if (!c || atomic_fetch_sub(&c->n_holders, 1) > 1)
        return;
    pfd_columns_deinit(&c->all);
    free(c->types);
    free(c->format);
    free(c);
}

void column_tables_free(struct column_tables *t)
{
    for (size_t i = 0; i < t->n; i++)
        columns_drop(t->all[i]);
    free(t->all);
    *t = (struct column_tables){ 0 };
}

/* ---- the form ---- */

/* The table of a writer; NULL: memory ran out. */
struct state {
    struct columns *columns;
};

static struct column_tables *tables_of(const struct pfd_table_writer *w)
{
    return w->table_target->write_user;
}

static struct columns *new_columns(const struct pfd_table_writer *w)
{
    struct columns *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    atomic_init(&c->n_holders, 1);
    memcpy(c->name, w->name, strnlen(w->name, sizeof c->name - 1));
    c->types = calloc(w->n_columns + 1, sizeof *c->types);
    c->format = malloc(w->n_format + 1);
    bool ok = c->types && c->format;
    if (ok) {
        memcpy(c->types, w->columns, w->n_columns * sizeof *c->types);
        memcpy(c->format, w->format, w->n_format);
        c->n_format = w->n_format;
        ok = pfd_columns_init(&c->all, c->types, w->n_columns);
    }
    if (ok)
        return c;
    columns_drop(c);
    return NULL;
}

static void begin(struct pfd_table_writer *w)
{
    struct column_tables *t = tables_of(w);
    struct state *s = w->state;
    struct columns **all =
        realloc(t->all, (t->n + 1) * sizeof(struct columns *));
    if (all)
        t->all = all;
    s->columns = all ? new_columns(w) : NULL;
    if (s->columns) {
        all[t->n++] = s->columns;
    } else {
        t->failed = true;
    }
}

/* Ends of texts count from the first text of all; a 0 stands before them. */
static void add_ends(struct column_tables *t, struct pfd_vector *to,
                     const struct pfd_vector *from, size_t n_rows)
{
    size_t before = to->bytes.n;
    const uint32_t *ends = (const uint32_t *)(const void *)from->values.data;
    uint32_t *at = (uint32_t *)(void *)pfd_text_reserve(
        &to->values, n_rows * sizeof *at + 1);
    t->too_large |= before + from->bytes.n > INT32_MAX;
    if (!at || t->too_large)
        return;
    for (size_t i = 0; i < n_rows; i++)
        at[i] = ends[i + 1] + (uint32_t)before;
    to->values.n += n_rows * sizeof *at;
}

static void batch(struct pfd_table_writer *w, const struct pfd_columns *from)
{
    struct column_tables *t = tables_of(w);
    struct columns *c = ((struct state *)w->state)->columns;
    for (size_t i = 0; c && i < from->n_columns; i++) {
        struct pfd_vector *to = &c->all.vectors[i];
        const struct pfd_vector *v = &from->vectors[i];
        if (c->types[i].n_bytes) {
            pfd_text_add(&to->values, v->values.data, v->values.n);
        } else {
            add_ends(t, to, v, from->n_rows);
        }
        pfd_text_add(&to->bytes, v->bytes.data, v->bytes.n);
        pfd_text_add(&to->nulls, v->nulls.data, v->nulls.n);
        to->n_nulls += v->n_nulls;
    }
    if (c)
        c->all.n_rows += from->n_rows;
}

static void end(struct pfd_table_writer *w)
{
    const struct columns *c = ((struct state *)w->state)->columns;
    if (c && pfd_columns_failed(&c->all))
        tables_of(w)->failed = true;
}

const struct pfd_table_form columns_form = {
    .info = { .name = "columns", .suffixes = "", .holds_all = true },
    .state_size = sizeof(struct state),
    .begin = begin,
    .batch = batch,
    .end = end,
};
