/* SPDX-License-Identifier: MIT */
#include "analysis/table/sorter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 16, /* of a run that is read back */
};

struct place {
    uint64_t order; /* of numbers */
    uint32_t row;
    uint8_t rank; /* 0: a value, 1: NaN, 2: null */
};

/* A sorted run in the file. */
struct run {
    uint64_t at;
    uint64_t end;
    struct pfd_text bytes; /* read of it, `used` of them consumed */
    size_t used;
    struct pfd_columns row; /* its next row, if any */
};

struct pfd_sorter {
    const struct pfd_table_column *columns;
    size_t n_columns;
    size_t by;
    bool descending;
    uint64_t top;
    size_t memory;
    struct pfd_columns rows;
    struct pfd_table_target file;
    bool has_file;
    uint64_t n_file;
    struct run *runs; /* [n_runs]; owned */
    size_t n_runs;
};

struct pfd_sorter *pfd_sorter_new(const struct pfd_table_column *columns,
                                  size_t n, size_t by, bool descending,
                                  uint64_t top, size_t memory)
{
    struct pfd_sorter *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->columns = columns;
    s->n_columns = n;
    s->by = by;
    s->descending = descending;
    s->top = top;
    s->memory = memory;
    if (pfd_columns_init(&s->rows, columns, n))
        return s;
    free(s);
    return NULL;
}

void pfd_sorter_free(struct pfd_sorter *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_runs; i++) {
        pfd_text_free(&s->runs[i].bytes);
        pfd_columns_deinit(&s->runs[i].row);
    }
    free(s->runs);
    if (s->has_file)
        pfd_table_target_close(&s->file);
    pfd_columns_deinit(&s->rows);
    free(s);
}

const struct pfd_error *pfd_sorter_error(const struct pfd_sorter *s)
{
    return &s->file.error;
}

/* ---- order ---- */

static struct place place_of(const struct pfd_sorter *s,
                             const struct pfd_columns *rows, size_t row)
{
    const uint64_t top = UINT64_C(1) << 63;
    const struct pfd_table_column *c = &s->columns[s->by];
    struct place p = { .row = (uint32_t)row };
    if (pfd_columns_is_null(rows, s->by, row)) {
        p.rank = 2;
    } else if (c->type != PFD_VALUE_TEXT) {
        uint64_t wide = pfd_columns_wide(rows, s->by, row);
        p.order = c->type == PFD_VALUE_INT     ? wide ^ top
                  : c->type != PFD_VALUE_FLOAT ? wide
                  : wide & top                 ? ~wide
                                               : wide | top;
        if (c->type == PFD_VALUE_FLOAT && (wide & ~top) > UINT64_C(0x7ff) << 52)
            p = (struct place){ .row = (uint32_t)row, .rank = 1 };
    }
    return p;
}

/* Compares rows of two batches; below 0: a comes first. */
static int compare(const struct pfd_sorter *s, const struct pfd_columns *a_rows,
                   struct place a, const struct pfd_columns *b_rows,
                   struct place b)
{
    int less = s->descending ? 1 : -1;
    if (a.rank != b.rank)
        return a.rank < b.rank ? -1 : 1;
    if (a.rank)
        return 0;
    if (s->columns[s->by].type != PFD_VALUE_TEXT)
        return a.order == b.order ? 0 : a.order < b.order ? less : -less;
    size_t n_a;
    size_t n_b;
    const char *x = pfd_columns_text(a_rows, s->by, a.row, &n_a);
    const char *y = pfd_columns_text(b_rows, s->by, b.row, &n_b);
    size_t n = n_a < n_b ? n_a : n_b;
    int order = n ? memcmp(x, y, n) : 0;
    if (!order)
        order = n_a < n_b ? -1 : n_a > n_b;
    return order == 0 ? 0 : order < 0 ? less : -less;
}

static int compare_places(const void *a, const void *b, void *user)
{
    const struct pfd_sorter *s = user;
    const struct place *x = a;
    const struct place *y = b;
    int order = compare(s, &s->rows, *x, &s->rows, *y);
    return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

/* The rows in order; NULL: out of memory. */
static struct place *sort(struct pfd_sorter *s)
{
    struct place *places = malloc((s->rows.n_rows + 1) * sizeof *places);
    if (!places)
        return NULL;
    for (size_t i = 0; i < s->rows.n_rows; i++)
        places[i] = place_of(s, &s->rows, i);
    qsort_r(places, s->rows.n_rows, sizeof *places, compare_places, s);
    return places;
}

/* ---- rows in ---- */

static size_t bytes_of(const struct pfd_columns *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n_columns; i++) {
        n += rows->vectors[i].values.n + rows->vectors[i].bytes.n +
             rows->vectors[i].nulls.n;
    }
    return n;
}

/* Keeps only the first rows so far: the others cannot be in the result. */
static bool keep_top(struct pfd_sorter *s)
{
    struct pfd_columns kept;
    struct place *places = sort(s);
    if (!places || !pfd_columns_init(&kept, s->columns, s->n_columns)) {
        free(places);
        return false;
    }
    for (size_t i = 0; i < s->rows.n_rows && i < s->top; i++)
        pfd_columns_copy(&kept, &s->rows, places[i].row);
    free(places);
    pfd_columns_deinit(&s->rows);
    s->rows = kept;
    return !pfd_columns_failed(&kept);
}

/* Writes a row's bytes: for each column the null flag, the length, the
 * value. */
static void put_row(struct pfd_sorter *s, size_t row)
{
    struct pfd_text *out = &s->file.pending;
    size_t before = out->n;
    for (size_t i = 0; i < s->n_columns; i++) {
        uint32_t n_text = UINT32_MAX;
        size_t n = 0;
        if (pfd_columns_is_null(&s->rows, i, row)) {
            pfd_text_add(out, &n_text, sizeof n_text);
        } else if (s->columns[i].type == PFD_VALUE_TEXT) {
            const char *text = pfd_columns_text(&s->rows, i, row, &n);
            n_text = (uint32_t)n;
            pfd_text_add(out, &n_text, sizeof n_text);
            pfd_text_add(out, text, n);
        } else {
            uint64_t bits = pfd_columns_bits(&s->rows, i, row);
            n_text = sizeof bits;
            pfd_text_add(out, &n_text, sizeof n_text);
            pfd_text_add(out, &bits, sizeof bits);
        }
    }
    s->n_file += out->n - before;
    pfd_table_target_flush_if_large(&s->file);
}

static bool write_run(struct pfd_sorter *s)
{
    struct place *places = sort(s);
    struct run *runs = realloc(s->runs, (s->n_runs + 1) * sizeof *runs);
    if (runs)
        s->runs = runs;
    if (!s->has_file) {
        s->has_file = true;
        pfd_table_target_open_scratch(&s->file);
    }
    if (!places || !runs || s->file.error.code != PFD_OK) {
        free(places);
        return false;
    }
    struct run run = { .at = s->n_file };
    for (size_t i = 0; i < s->rows.n_rows && !(s->top && i >= s->top); i++)
        put_row(s, places[i].row);
    run.end = s->n_file;
    free(places);
    s->runs[s->n_runs++] = run;
    pfd_columns_clear(&s->rows);
    return pfd_table_target_flush(&s->file);
}

bool pfd_sorter_add(struct pfd_sorter *s, const struct pfd_columns *batch)
{
    for (size_t row = 0; row < batch->n_rows; row++)
        pfd_columns_copy(&s->rows, batch, row);
    if (pfd_columns_failed(&s->rows))
        return false;
    if (s->top && s->rows.n_rows > 2 * s->top + PFD_BATCH_ROWS && !keep_top(s))
        return false;
    return bytes_of(&s->rows) < s->memory || write_run(s);
}

/* ---- rows out ---- */

struct giving {
    struct pfd_columns batch;
    pfd_columns_fn take;
    void *user;
    uint64_t n;
};

static bool give(struct pfd_sorter *s, struct giving *g,
                 const struct pfd_columns *from, size_t row)
{
    if (s->top && g->n >= s->top)
        return true;
    g->n++;
    pfd_columns_copy(&g->batch, from, row);
    if (g->batch.n_rows == PFD_BATCH_ROWS) {
        if (pfd_columns_failed(&g->batch))
            return false;
        g->take(g->user, &g->batch);
        pfd_columns_clear(&g->batch);
    }
    return true;
}

static bool give_sorted(struct pfd_sorter *s, struct giving *g)
{
    struct place *places = sort(s);
    bool ok = places != NULL;
    for (size_t i = 0; ok && i < s->rows.n_rows; i++)
        ok = give(s, g, &s->rows, places[i].row);
    free(places);
    return ok;
}

/* The next n bytes of a run; NULL: an error. */
static const char *next(struct pfd_sorter *s, struct run *r, size_t n)
{
    size_t left = r->bytes.n - r->used;
    if (left < n) {
        size_t room = n > PIECE ? n : PIECE;
        uint64_t rest = r->end - r->at;
        size_t more = rest < room ? (size_t)rest : room;
        if (left)
            memmove(r->bytes.data, r->bytes.data + r->used, left);
        r->bytes.n = left;
        r->used = 0;
        char *to = pfd_text_reserve(&r->bytes, more + 1);
        if (!to || left + more < n ||
            !pfd_table_target_read(&s->file, r->at, to, more))
            return NULL;
        r->bytes.n += more;
        r->at += more;
    }
    r->used += n;
    return r->bytes.data + r->used - n;
}

/* Reads the run's next row; none at its end. */
static bool read_row(struct pfd_sorter *s, struct run *r)
{
    pfd_columns_clear(&r->row);
    if (r->used == r->bytes.n && r->at == r->end)
        return true;
    for (size_t i = 0; i < s->n_columns; i++) {
        uint32_t n;
        uint64_t bits;
        const char *at = next(s, r, sizeof n);
        if (!at)
            return false;
        memcpy(&n, at, sizeof n);
        if (n == UINT32_MAX) {
            pfd_columns_add_null(&r->row, i);
            continue;
        }
        at = next(s, r, n);
        if (!at)
            return false;
        if (s->columns[i].type == PFD_VALUE_TEXT) {
            pfd_columns_add_text(&r->row, i, at, n);
        } else {
            memcpy(&bits, at, sizeof bits);
            pfd_columns_add(&r->row, i, bits);
        }
    }
    r->row.n_rows = 1;
    return !pfd_columns_failed(&r->row);
}

/* The run whose row comes first; the earlier run if rows are equal. */
static struct run *first_run(struct pfd_sorter *s)
{
    struct run *first = NULL;
    struct place best = { 0 };
    for (size_t i = 0; i < s->n_runs; i++) {
        struct run *r = &s->runs[i];
        if (!r->row.n_rows)
            continue;
        struct place p = place_of(s, &r->row, 0);
        if (!first || compare(s, &r->row, p, &first->row, best) < 0) {
            first = r;
            best = p;
        }
    }
    return first;
}

static bool give_merged(struct pfd_sorter *s, struct giving *g)
{
    bool ok = write_run(s);
    for (size_t i = 0; ok && i < s->n_runs; i++) {
        ok = pfd_columns_init(&s->runs[i].row, s->columns, s->n_columns) &&
             read_row(s, &s->runs[i]);
    }
    while (ok && !(s->top && g->n >= s->top)) {
        struct run *r = first_run(s);
        if (!r)
            break;
        ok = give(s, g, &r->row, 0) && read_row(s, r);
    }
    return ok;
}

bool pfd_sorter_end(struct pfd_sorter *s, pfd_columns_fn take, void *user)
{
    struct giving g = { .take = take, .user = user };
    bool ok = pfd_columns_init(&g.batch, s->columns, s->n_columns);
    ok = ok && (s->n_runs ? give_merged(s, &g) : give_sorted(s, &g));
    ok = ok && !pfd_columns_failed(&g.batch);
    if (ok && g.batch.n_rows)
        take(user, &g.batch);
    pfd_columns_deinit(&g.batch);
    return ok;
}
