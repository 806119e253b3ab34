/* SPDX-License-Identifier: MIT */
#include "analysis/table/group.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/quantile.h"
#include "analysis/table/unique_names.h"
#include "core/base/dictionary.h"

/* The aggregates of a column. */
enum aggregate {
    COUNT,
    LEAST,
    GREATEST,
    MEAN,
    DEVIATION,
    P50,
    P99,
    NANS,
    FIRST,
    LAST,
    N_AGGREGATES,
};

static const char *const names[] = { "count", "min", "max", "mean",  "std",
                                     "p50",   "p99", "nan", "first", "last" };

__extension__ typedef __int128 sum_t;

/* The state of one column in one group. */
struct seen {
    uint64_t n; /* numbers */
    uint64_t n_nans;
    uint64_t least; /* by order_of() */
    uint64_t greatest;
    uint64_t first; /* bits */
    uint64_t last;
    bool any;
    sum_t sum; /* of integers */
    double mean;
    double squares; /* of the distances to the mean */
    struct pfd_quantile *order;
};

/* A column of the result: an aggregate of a column of the table. */
struct answer {
    size_t column; /* index of its struct seen in a group; SIZE_MAX: a part of
                      the key */
    size_t of;     /* index in the table */
    enum aggregate what;
};

struct pfd_group {
    const struct pfd_table_column *of; /* the table's, borrowed */
    size_t *by;                        /* [n_by] */
    size_t n_by;
    size_t *seen; /* [n_seen]: columns that have aggregates */
    size_t n_seen;
    bool wants_order;
    struct answer *answers; /* [n_answers] */
    struct pfd_table_column *columns;
    size_t n_answers;
    struct pfd_dictionary keys; /* a key for each group */
    struct pfd_text counts;     /* uint64_t for each group */
    struct pfd_text all;        /* struct seen [n_seen] for each group */
    struct pfd_text key;
    size_t memory; /* bytes left */
    uint64_t n_left_out;
    bool failed;
};

bool pfd_group_knows(const char *aggregate)
{
    for (size_t i = 0; i < N_AGGREGATES; i++) {
        if (!strcmp(names[i], aggregate))
            return true;
    }
    return false;
}

/* ---- the result's columns ---- */

static bool is_by(const struct pfd_group *g, size_t column)
{
    for (size_t i = 0; i < g->n_by; i++) {
        if (g->by[i] == column)
            return true;
    }
    return false;
}

static bool may_ask(const struct pfd_table_column *c, enum aggregate what)
{
    return c->type != PFD_VALUE_TEXT &&
           (what != NANS || c->type == PFD_VALUE_FLOAT);
}

static void add_answer(struct pfd_group *g, size_t column, size_t of,
                       enum aggregate what)
{
    struct pfd_table_column *c = &g->columns[g->n_answers];
    g->answers[g->n_answers++] = (struct answer){ column, of, what };
    *c = g->of[of];
    c->from = PFD_FROM_NOWHERE;
    if (what == N_AGGREGATES) /* a column of the key, unchanged */
        return;
    if (what == COUNT) {
        snprintf(c->name, sizeof c->name, "count");
    } else {
        size_t n = strlen(c->name);
        size_t n_end = strlen(names[what]) + 1;
        n = n + n_end < sizeof c->name ? n : sizeof c->name - 1 - n_end;
        snprintf(c->name + n, sizeof c->name - n, ".%s", names[what]);
    }
    if (what == COUNT || what == NANS || what == MEAN || what == DEVIATION) {
        c->type = what == MEAN || what == DEVIATION ? PFD_VALUE_FLOAT
                                                    : PFD_VALUE_UNSIGNED;
        c->n_bytes = 8;
        c->is_hex = false;
    }
}

/* The requested aggregates, each once, in order of request. */
struct question {
    enum aggregate all[N_AGGREGATES]; /* [n] */
    size_t n;
};

static void ask(struct question *q, const char *aggregate)
{
    for (int what = COUNT; what < N_AGGREGATES; what++) {
        bool is_new = !strcmp(names[what], aggregate);
        for (size_t i = 0; i < q->n; i++)
            is_new &= q->all[i] != (enum aggregate)what;
        if (is_new)
            q->all[q->n++] = (enum aggregate)what;
    }
}

static bool asks(const struct question *q, enum aggregate what)
{
    for (size_t i = 0; i < q->n; i++) {
        if (q->all[i] == what)
            return true;
    }
    return false;
}

static bool asks_of(const struct question *q, const struct pfd_table_column *c)
{
    for (size_t i = 0; i < q->n; i++) {
        if (q->all[i] != COUNT && may_ask(c, q->all[i]))
            return true;
    }
    return false;
}

static void add_count(struct pfd_group *g)
{
    add_answer(g, SIZE_MAX, g->n_by ? g->by[0] : 0, COUNT);
}

/* All columns share one count: it stands in the first one's order. */
static void add_answers(struct pfd_group *g, const struct question *q, size_t n)
{
    bool counts = asks(q, COUNT);
    for (size_t i = 0; i < g->n_by; i++)
        add_answer(g, SIZE_MAX, g->by[i], N_AGGREGATES);
    for (size_t i = 0; i < n; i++) {
        const struct pfd_table_column *c = &g->of[i];
        if (is_by(g, i) || c->from != PFD_FROM_ARGUMENT || !asks_of(q, c))
            continue;
        for (size_t k = 0; k < q->n; k++) {
            if (q->all[k] != COUNT && may_ask(c, q->all[k])) {
                add_answer(g, g->n_seen, i, q->all[k]);
            } else if (q->all[k] == COUNT && counts) {
                add_count(g);
                counts = false;
            }
        }
        g->seen[g->n_seen++] = i;
    }
    if (counts)
        add_count(g);
    g->wants_order = asks(q, P50) || asks(q, P99);
}

static bool give_names(struct pfd_group *g)
{
    struct pfd_unique_names given = { 0 };
    bool ok = true;
    for (size_t i = 0; i < g->n_answers && ok; i++) {
        ok = pfd_unique_names_give(&given, g->columns[i].name,
                                   sizeof g->columns[i].name);
    }
    pfd_unique_names_free(&given);
    return ok;
}

struct pfd_group *pfd_group_new(const struct pfd_table_column *columns,
                                size_t n, const size_t *by, size_t n_by,
                                const char *const *aggregates,
                                size_t n_aggregates, size_t memory)
{
    struct pfd_group *g = calloc(1, sizeof *g);
    struct question asked = { .n = 0 };
    size_t room = n_by + 1 + n * N_AGGREGATES;
    if (!g)
        return NULL;
    g->of = columns;
    g->memory = memory;
    g->by = calloc(n_by + 1, sizeof *g->by);
    g->seen = calloc(n + 1, sizeof *g->seen);
    g->answers = calloc(room, sizeof *g->answers);
    g->columns = calloc(room, sizeof *g->columns);
    if (g->by && g->seen && g->answers && g->columns) {
        if (n_by)
            memcpy(g->by, by, n_by * sizeof *by);
        g->n_by = n_by;
        for (size_t i = 0; i < n_aggregates; i++)
            ask(&asked, aggregates[i]);
        add_answers(g, &asked, n);
        if (give_names(g))
            return g;
    }
    pfd_group_free(g);
    return NULL;
}

void pfd_group_free(struct pfd_group *g)
{
    if (!g)
        return;
    struct seen *all = (void *)g->all.data;
    for (size_t i = 0; i < g->all.n / sizeof *all; i++) {
        if (all[i].order)
            pfd_quantile_free(all[i].order);
        free(all[i].order);
    }
    pfd_dictionary_free(&g->keys);
    pfd_text_free(&g->counts);
    pfd_text_free(&g->all);
    pfd_text_free(&g->key);
    free(g->by);
    free(g->seen);
    free(g->answers);
    free(g->columns);
    free(g);
}

const struct pfd_table_column *pfd_group_columns(const struct pfd_group *g,
                                                 size_t *n)
{
    *n = g->n_answers;
    return g->columns;
}

/* ---- rows ---- */

/* Maps numbers to integers that compare as unsigned; and back. */
static uint64_t order_of(const struct pfd_table_column *c, uint64_t wide)
{
    const uint64_t top = UINT64_C(1) << 63;
    if (c->type == PFD_VALUE_FLOAT)
        return wide & top ? ~wide : wide | top;
    return c->type == PFD_VALUE_INT ? wide ^ top : wide;
}

/* Of a float, its bits in binary64. */
static uint64_t wide_of(const struct pfd_table_column *c, uint64_t order)
{
    const uint64_t top = UINT64_C(1) << 63;
    if (c->type == PFD_VALUE_FLOAT)
        return order & top ? order ^ top : ~order;
    return c->type == PFD_VALUE_INT ? order ^ top : order;
}

/* All values of the key, one behind another. */
static void make_key(struct pfd_group *g, const struct pfd_columns *batch,
                     size_t row)
{
    g->key.n = 0;
    for (size_t i = 0; i < g->n_by; i++) {
        size_t column = g->by[i];
        char is_null = (char)pfd_columns_is_null(batch, column, row);
        pfd_text_add(&g->key, &is_null, 1);
        if (is_null)
            continue;
        if (g->of[column].type == PFD_VALUE_TEXT) {
            size_t n;
            const char *text = pfd_columns_text(batch, column, row, &n);
            pfd_text_add(&g->key, &n, sizeof n);
            pfd_text_add(&g->key, text, n);
        } else {
            uint64_t bits = pfd_columns_bits(batch, column, row);
            pfd_text_add(&g->key, &bits, sizeof bits);
        }
    }
}

/* Approximate bytes of one more group. */
static size_t group_bytes(const struct pfd_group *g)
{
    size_t each = sizeof(struct seen);
    if (g->wants_order)
        each += sizeof(struct pfd_quantile) + 8 * PFD_QUANTILE_LEAST;
    return 2 * (g->key.n + 4 * sizeof(uint32_t) + sizeof(uint64_t) +
                g->n_seen * each);
}

/* Does the row's group exist, or is there memory for it? */
static bool has_room(const struct pfd_group *g)
{
    return g->memory >= group_bytes(g) ||
           pfd_dictionary_find(&g->keys, g->key.n ? g->key.data : "",
                               g->key.n) != UINT32_MAX;
}

/* The row's group; SIZE_MAX: out of memory for another one. */
static size_t group_of(struct pfd_group *g)
{
    static const struct seen nothing;
    static const uint64_t zero;
    if (!has_room(g)) {
        g->n_left_out++;
        return SIZE_MAX;
    }
    uint32_t before = g->keys.n;
    uint32_t i =
        pfd_dictionary_add(&g->keys, g->key.n ? g->key.data : "", g->key.n);
    g->failed |= g->keys.failed;
    if (g->failed || g->keys.n == before)
        return i;
    size_t bytes = group_bytes(g);
    g->memory -= bytes < g->memory ? bytes : g->memory;
    pfd_text_add(&g->counts, &zero, sizeof zero);
    for (size_t k = 0; k < g->n_seen; k++)
        pfd_text_add(&g->all, &nothing, sizeof nothing);
    g->failed |= g->counts.failed || g->all.failed || g->keys.failed;
    return i;
}

static void see_number(struct pfd_group *g, struct seen *s,
                       const struct pfd_table_column *c, uint64_t wide)
{
    double d = (double)wide;
    uint64_t order = order_of(c, wide);
    if (c->type == PFD_VALUE_FLOAT) {
        memcpy(&d, &wide, sizeof d);
        if (isnan(d)) {
            s->n_nans++;
            return;
        }
    } else if (c->type == PFD_VALUE_INT) {
        d = (double)(int64_t)wide;
        s->sum += (int64_t)wide;
    } else {
        s->sum += wide;
    }
    s->least = !s->n || order < s->least ? order : s->least;
    s->greatest = !s->n || order > s->greatest ? order : s->greatest;
    s->n++;
    double step = d - s->mean;
    s->mean += step / (double)s->n;
    s->squares += step * (d - s->mean);
    if (!g->wants_order)
        return;
    if (!s->order)
        s->order = calloc(1, sizeof *s->order);
    g->failed |= !s->order || !pfd_quantile_add(s->order, order, &g->memory);
}

static void see(struct pfd_group *g, struct seen *s,
                const struct pfd_columns *batch, size_t column, size_t row)
{
    const struct pfd_table_column *c = &g->of[column];
    if (pfd_columns_is_null(batch, column, row))
        return;
    uint64_t bits = pfd_columns_bits(batch, column, row);
    see_number(g, s, c, pfd_columns_wide(batch, column, row));
    if (!s->any)
        s->first = bits;
    s->last = bits;
    s->any = true;
}

bool pfd_group_add(struct pfd_group *g, const struct pfd_columns *batch)
{
    for (size_t row = 0; row < batch->n_rows && !g->failed; row++) {
        make_key(g, batch, row);
        size_t i = group_of(g);
        if (i == SIZE_MAX || g->failed)
            continue;
        ((uint64_t *)(void *)g->counts.data)[i]++;
        struct seen *s =
            g->n_seen ? (struct seen *)(void *)g->all.data + i * g->n_seen
                      : NULL;
        for (size_t k = 0; k < g->n_seen; k++)
            see(g, &s[k], batch, g->seen[k], row);
    }
    return !g->failed && !g->key.failed;
}

/* ---- results ---- */

static uint64_t bits_of(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof d);
    return bits;
}

/* An ordered number in the column's type: narrower floats are exact. */
static uint64_t narrow(const struct pfd_table_column *c, uint64_t order)
{
    uint64_t wide = wide_of(c, order);
    if (c->type != PFD_VALUE_FLOAT || c->n_bytes == 8)
        return wide;
    double d;
    memcpy(&d, &wide, sizeof d);
    float f = (float)d;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return c->n_bytes == 4 ? bits : pfd_half_bits(f);
}

static void add_order(struct pfd_columns *to, size_t at,
                      const struct pfd_table_column *c, const struct seen *s,
                      double share, struct pfd_table_counts *counts)
{
    uint64_t order;
    enum pfd_status status =
        s->order ? pfd_quantile_ask(s->order, share, &order) : PFD_END;
    if (status != PFD_OK) {
        pfd_columns_add_null(to, at);
        to->vectors[at].values.failed |= status == PFD_ERR_NOMEM;
        return;
    }
    if (s->order->error) {
        double off = (double)s->order->error / (double)s->order->n;
        counts->sketched++;
        counts->off = off > counts->off ? off : counts->off;
    }
    pfd_columns_add(to, at, narrow(c, order));
}

static double mean_of(const struct pfd_table_column *c, const struct seen *s)
{
    if (c->type == PFD_VALUE_FLOAT)
        return s->mean;
    return (double)((long double)s->sum / (long double)s->n);
}

static void add_one(const struct pfd_group *g, struct pfd_columns *to,
                    size_t at, const struct seen *s,
                    struct pfd_table_counts *counts)
{
    const struct answer *a = &g->answers[at];
    const struct pfd_table_column *c = &g->of[a->of];
    bool is_there = a->what == FIRST || a->what == LAST ? s->any
                    : a->what == NANS                   ? true
                    : a->what == DEVIATION              ? s->n > 1
                                                        : s->n > 0;
    if (!is_there) {
        pfd_columns_add_null(to, at);
        return;
    }
    switch (a->what) {
    case LEAST:
        pfd_columns_add(to, at, narrow(c, s->least));
        break;
    case GREATEST:
        pfd_columns_add(to, at, narrow(c, s->greatest));
        break;
    case MEAN:
        pfd_columns_add(to, at, bits_of(mean_of(c, s)));
        break;
    case DEVIATION:
        pfd_columns_add(to, at, bits_of(sqrt(s->squares / (double)(s->n - 1))));
        break;
    case P50:
    case P99:
        add_order(to, at, c, s, a->what == P50 ? 0.5 : 0.99, counts);
        break;
    case NANS:
        pfd_columns_add(to, at, s->n_nans);
        break;
    case FIRST:
        pfd_columns_add(to, at, s->first);
        break;
    case LAST:
    case COUNT:
    case N_AGGREGATES:
        pfd_columns_add(to, at, s->last);
        break;
    }
}

/* Adds the parts of a group's key. */
static void add_key(struct pfd_group *g, struct pfd_columns *to, size_t i)
{
    const uint32_t *ends = (const void *)g->keys.ends.data;
    const char *at = g->n_by ? g->keys.bytes.data + ends[i] : NULL;
    for (size_t k = 0; k < g->n_by; k++) {
        uint64_t bits;
        if (*at++) {
            pfd_columns_add_null(to, k);
            continue;
        }
        memcpy(&bits, at, sizeof bits);
        at += sizeof bits;
        if (g->of[g->by[k]].type == PFD_VALUE_TEXT) {
            pfd_columns_add_text(to, k, at, bits);
            at += bits;
        } else {
            pfd_columns_add(to, k, bits);
        }
    }
}

static void add_group(struct pfd_group *g, struct pfd_columns *to, size_t i,
                      struct pfd_table_counts *counts)
{
    const struct seen *seen =
        g->n_seen
            ? (const struct seen *)(const void *)g->all.data + i * g->n_seen
            : NULL;
    add_key(g, to, i);
    for (size_t at = g->n_by; at < g->n_answers; at++) {
        const struct answer *a = &g->answers[at];
        if (a->what == COUNT || !seen) {
            pfd_columns_add(
                to, at, ((const uint64_t *)(const void *)g->counts.data)[i]);
        } else {
            add_one(g, to, at, &seen[a->column], counts);
        }
    }
    to->n_rows++;
}

bool pfd_group_end(struct pfd_group *g, pfd_columns_fn take, void *user,
                   struct pfd_table_counts *counts)
{
    struct pfd_columns batch;
    bool ok = pfd_columns_init(&batch, g->columns, g->n_answers);
    counts->ungrouped += g->n_left_out;
    for (size_t i = 0; ok && i < g->keys.n; i++) {
        add_group(g, &batch, i, counts);
        if (batch.n_rows < PFD_BATCH_ROWS && i + 1 < g->keys.n)
            continue;
        ok = !pfd_columns_failed(&batch);
        if (ok)
            take(user, &batch);
        pfd_columns_clear(&batch);
    }
    pfd_columns_deinit(&batch);
    return ok;
}
