/* SPDX-License-Identifier: MIT */
/*
 * A database of SQLite: a table for each format string, and the view
 * `messages`, which has all messages in the order of the buffers. Types follow
 * SQLite's limits: integers beyond 2^63 are texts of their digits, NaN is a
 * text with its bits (SQLite has none), a text that is not UTF-8 is a blob.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/table/sqlite.h"
#include "analysis/table/table_form.h"

enum {
    VIEW_TERMS = 400, /* of a UNION ALL; SQLite's limit is 500 */
};

/* Shared by all tables. */
struct file {
    sqlite3 *db;
    struct pfd_text view; /* the current part's SELECTs */
    size_t n_terms;
    size_t n_views;
    bool is_begun; /* a transaction */
};

struct state {
    sqlite3_stmt *insert;
    size_t n_columns; /* within SQLite's limit */
};

static bool fail(struct pfd_table_writer *w)
{
    struct file *f = w->file;
    pfd_table_target_fail(w->table_target, PFD_ERR_IO,
                          f->db ? pfd_sqlite.errmsg(f->db) : "out of memory");
    return false;
}

static bool fail_memory(struct pfd_table_writer *w)
{
    pfd_table_target_fail(w->table_target, PFD_ERR_NOMEM, "out of memory");
    return false;
}

static bool run(struct pfd_table_writer *w, struct pfd_text *sql)
{
    struct file *f = w->file;
    pfd_text_add(sql, "", 1);
    if (sql->failed)
        return fail_memory(w);
    bool ok = pfd_sqlite.exec(f->db, sql->data, NULL, NULL, NULL) == SQLITE_OK;
    sql->n = 0;
    return ok || fail(w);
}

static bool run_words(struct pfd_table_writer *w, const char *words)
{
    struct pfd_text sql = { 0 };
    pfd_text_puts(&sql, words);
    bool ok = run(w, &sql);
    pfd_text_free(&sql);
    return ok;
}

/* Adds a name in quotes; quotes in it are doubled. */
static void add_quoted(struct pfd_text *sql, const char *name, size_t n,
                       char quote)
{
    pfd_text_add(sql, &quote, 1);
    for (size_t i = 0; i < n; i++) {
        if (name[i] == quote)
            pfd_text_add(sql, &quote, 1);
        pfd_text_add(sql, name + i, 1);
    }
    pfd_text_add(sql, &quote, 1);
}

static void add_name(struct pfd_text *sql, const char *name)
{
    add_quoted(sql, name, strlen(name), '"');
}

static void sqlite_open(struct pfd_table_writer *w)
{
    struct file *f = w->file;
    struct pfd_error err;
    if (pfd_sqlite_load(&err) != PFD_OK) {
        pfd_table_target_fail(w->table_target, err.code, err.text);
        return;
    }
    if (pfd_sqlite.open_v2(w->table_target->path, &f->db,
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                           NULL) != SQLITE_OK) {
        fail(w);
        return;
    }
    /* The file is new: after a failure it is made again, not recovered. */
    f->is_begun =
        (pfd_sqlite_distrust(f->db, pfd_sqlite.db_config) || fail(w)) &&
        run_words(w, "PRAGMA journal_mode = MEMORY;"
                     "PRAGMA synchronous = OFF; BEGIN;");
}

/* The declared type of a column. Without a type SQLite converts nothing: 2^64 -
 * 1 would become a float. */
static const char *type_of(const struct pfd_table_column *c)
{
    switch (c->type) {
    case PFD_VALUE_INT:
    case PFD_VALUE_TIME:
        return " INTEGER";
    case PFD_VALUE_UNSIGNED:
        return c->n_bytes < 8 ? " INTEGER" : "";
    case PFD_VALUE_TEXT:
        return " TEXT";
    case PFD_VALUE_FLOAT: /* REAL would store -0.0 as 0 */
        break;
    }
    return "";
}

static void add_create(const struct pfd_table_writer *w, struct pfd_text *sql)
{
    const struct state *s = w->state;
    pfd_text_puts(sql, "CREATE TABLE ");
    add_name(sql, w->name);
    pfd_text_puts(sql, " (");
    for (size_t i = 0; i < s->n_columns; i++) {
        pfd_text_puts(sql, i ? ", " : "");
        add_name(sql, w->columns[i].name);
        pfd_text_puts(sql, type_of(&w->columns[i]));
    }
    pfd_text_puts(sql, ");");
}

static void prepare(struct pfd_table_writer *w, struct pfd_text *sql)
{
    struct file *f = w->file;
    struct state *s = w->state;
    pfd_text_puts(sql, "INSERT INTO ");
    add_name(sql, w->name);
    pfd_text_puts(sql, " VALUES (");
    for (size_t i = 0; i < s->n_columns; i++)
        pfd_text_puts(sql, i ? ", ?" : "?");
    pfd_text_add(sql, ")", 2);
    if (sql->failed) {
        fail_memory(w);
    } else if (pfd_sqlite.prepare_v2(f->db, sql->data, -1, &s->insert, NULL) !=
               SQLITE_OK) {
        fail(w);
    }
}

/* ---- the view ---- */

static const char *column_from(const struct pfd_table_writer *w,
                               enum pfd_column_from from)
{
    const struct state *s = w->state;
    for (size_t i = 0; i < s->n_columns; i++) {
        if (w->columns[i].from == from)
            return w->columns[i].name;
    }
    return NULL;
}

static void end_view(struct pfd_table_writer *w)
{
    struct file *f = w->file;
    struct pfd_text sql = { 0 };
    if (!f->n_terms)
        return;
    pfd_text_printf(&sql, "CREATE VIEW \"messages %zu\" AS ", ++f->n_views);
    pfd_text_add(&sql, f->view.data, f->view.n);
    pfd_text_puts(&sql, ";");
    sql.failed |= f->view.failed;
    run(w, &sql);
    pfd_text_free(&sql);
    f->view.n = 0;
    f->n_terms = 0;
}

/* SQLite's name for the number of a row: a name that no column has. */
static const char *row_name(const struct pfd_table_writer *w)
{
    static const char *const all[] = { "rowid", "_rowid_", "oid" };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bool is_taken = false;
        for (size_t i = 0; i < w->n_columns; i++)
            is_taken |= !strcasecmp(w->columns[i].name, all[k]);
        if (!is_taken)
            return all[k];
    }
    return "row_number() OVER ()";
}

static void add_to_view(struct pfd_table_writer *w)
{
    static const struct {
        enum pfd_column_from from;
        const char *name;
    } parts[] = {
        { PFD_FROM_SOURCE, "source" },     { PFD_FROM_TIME, "time" },
        { PFD_FROM_INDEX, "index" },       { PFD_FROM_MESSAGE, "message" },
        { PFD_FROM_FINDINGS, "findings" }, { PFD_FROM_SEQUENCE, "sequence" },
    };
    struct file *f = w->file;
    struct pfd_text *sql = &f->view;
    pfd_text_puts(sql, f->n_terms++ ? " UNION ALL SELECT " : "SELECT ");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *name = column_from(w, parts[i].from);
        if (name) {
            add_name(sql, name);
        } else {
            pfd_text_puts(sql, "NULL");
        }
        pfd_text_printf(sql, " AS \"%s\", ", parts[i].name);
    }
    add_quoted(sql, w->name, strlen(w->name), '\'');
    pfd_text_printf(sql, " AS \"table\", %s AS \"row\" FROM ", row_name(w));
    add_name(sql, w->name);
    if (f->n_terms == VIEW_TERMS)
        end_view(w);
}

/* ---- rows ---- */

static void sqlite_begin(struct pfd_table_writer *w)
{
    struct file *f = w->file;
    struct state *s = w->state;
    struct pfd_text sql = { 0 };
    if (!f->is_begun)
        return;
    int max = pfd_sqlite.limit(f->db, SQLITE_LIMIT_COLUMN, -1);
    s->n_columns = w->n_columns;
    if (max > 0 && s->n_columns > (size_t)max) {
        pfd_table_target_fail(
            w->table_target, PFD_ERR_UNSUPPORTED,
            "a table of SQLite has no more than 2000 columns; "
            "choose some");
        return;
    }
    add_create(w, &sql);
    if (run(w, &sql))
        prepare(w, &sql);
    pfd_text_free(&sql);
    add_to_view(w);
}

/* NaN and its bits, for instance nan(0x7fc00000). */
static void bind_nan(sqlite3_stmt *to, int at, const struct pfd_table_column *c,
                     uint64_t bits)
{
    char text[32];
    int n = snprintf(text, sizeof text, "nan(0x%0*llx)", 2 * c->n_bytes,
                     (unsigned long long)bits);
    pfd_sqlite.bind_text(to, at, text, n, SQLITE_TRANSIENT);
}

static void bind_digits(sqlite3_stmt *to, int at, uint64_t value)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    pfd_sqlite.bind_text(to, at, text, n, SQLITE_TRANSIENT);
}

static void bind_value(sqlite3_stmt *to, int at,
                       const struct pfd_columns *batch, size_t i, size_t row)
{
    const struct pfd_table_column *c = &batch->columns[i];
    uint64_t bits = pfd_columns_bits(batch, i, row);
    double d = 0;
    switch (c->type) {
    case PFD_VALUE_FLOAT:
        d = pfd_float_value(bits, c->n_bytes);
        if (isnan(d)) {
            bind_nan(to, at, c, bits);
        } else {
            pfd_sqlite.bind_double(to, at, d);
        }
        return;
    case PFD_VALUE_INT:
        pfd_sqlite.bind_int64(to, at,
                              (sqlite3_int64)pfd_columns_wide(batch, i, row));
        return;
    case PFD_VALUE_UNSIGNED:
    case PFD_VALUE_TIME:
    case PFD_VALUE_TEXT:
        break;
    }
    if (bits > INT64_MAX) {
        bind_digits(to, at, bits);
    } else {
        pfd_sqlite.bind_int64(to, at, (sqlite3_int64)bits);
    }
}

static void bind_text(sqlite3_stmt *to, int at, const struct pfd_columns *batch,
                      size_t i, size_t row)
{
    size_t n;
    const char *text = pfd_columns_text(batch, i, row, &n);
    if (pfd_table_is_plain_utf8(text, n)) {
        pfd_sqlite.bind_text(to, at, text, (int)n, SQLITE_STATIC);
    } else {
        pfd_sqlite.bind_blob(to, at, text, (int)n, SQLITE_STATIC);
    }
}

static void sqlite_batch(struct pfd_table_writer *w,
                         const struct pfd_columns *batch)
{
    const struct state *s = w->state;
    for (size_t row = 0; s->insert && row < batch->n_rows; row++) {
        for (size_t i = 0; i < s->n_columns; i++) {
            int at = (int)i + 1;
            if (pfd_columns_is_null(batch, i, row)) {
                pfd_sqlite.bind_null(s->insert, at);
            } else if (batch->columns[i].type == PFD_VALUE_TEXT) {
                bind_text(s->insert, at, batch, i, row);
            } else {
                bind_value(s->insert, at, batch, i, row);
            }
        }
        if (pfd_sqlite.step(s->insert) != SQLITE_DONE) {
            fail(w);
            return;
        }
        pfd_sqlite.reset(s->insert);
    }
}

static void sqlite_end(struct pfd_table_writer *w)
{
    const struct state *s = w->state;
    if (s->insert)
        pfd_sqlite.finalize(s->insert);
}

static void add_messages(struct pfd_table_writer *w)
{
    struct file *f = w->file;
    struct pfd_text sql = { 0 };
    end_view(w);
    pfd_text_puts(&sql, "CREATE VIEW messages AS ");
    for (size_t i = 1; i <= f->n_views; i++) {
        pfd_text_printf(&sql, "%sSELECT * FROM \"messages %zu\"",
                        i > 1 ? " UNION ALL " : "", i);
    }
    pfd_text_puts(&sql, " ORDER BY \"source\", \"index\";");
    if (f->n_views)
        run(w, &sql);
    pfd_text_free(&sql);
}

static void sqlite_close(struct pfd_table_writer *w)
{
    struct file *f = w->file;
    if (f->is_begun && w->table_target->error.code == PFD_OK) {
        add_messages(w);
        run_words(w, "COMMIT;");
    }
    if (f->db && pfd_sqlite.close(f->db) != SQLITE_OK) {
        pfd_table_target_fail(w->table_target, PFD_ERR_IO,
                              "the database is not closed");
    }
    pfd_text_free(&f->view);
}

const struct pfd_table_form pfd_table_form_sqlite = {
    .info = { .name = "sqlite",
              .title = "a database, with the view `messages`",
              .suffixes = ".sqlite .sqlite3 .db",
              .wants_file = true,
              .holds_all = true },
    .taken = "messages",
    .prefix = "sqlite_",
    .wants_messages = true,
    .state_size = sizeof(struct state),
    .file_size = sizeof(struct file),
    .open = sqlite_open,
    .begin = sqlite_begin,
    .batch = sqlite_batch,
    .end = sqlite_end,
    .close = sqlite_close,
};
