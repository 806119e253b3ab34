/* SPDX-License-Identifier: MIT */
#include "outputs/row_table.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "outputs/database_rows.h"

/* The table as SQLite sees it; the base is the first member, as SQLite
 * requires. */
struct table {
    struct sqlite3_vtab base;
    struct pfdd_row_source *source; /* borrowed */
};

struct cursor {
    struct sqlite3_vtab_cursor base;
    struct pfdd_row_source *source; /* borrowed */
    size_t next;                    /* offset of the next row */
    bool is_end;
    struct pfdd_value values[PFDD_ROW_COLUMNS];
};

/* ---- the table ---- */

static int declare(struct sqlite3 *db)
{
    struct pfd_text sql = { 0 };
    pfd_text_puts(&sql, "CREATE TABLE x (\"row\" INTEGER");
    for (size_t i = 0; i < PFDD_ROW_COLUMNS; i++)
        pfd_text_printf(&sql, ", \"%s\"", pfdd_row_columns[i].name);
    pfd_text_add(&sql, ")", 2);
    int rc = sql.failed ? SQLITE_NOMEM : sqlite3_declare_vtab(db, sql.data);
    pfd_text_free(&sql);
    return rc;
}

static int connect_table(struct sqlite3 *db, void *user, int n_args,
                         const char *const *args, struct sqlite3_vtab **ret,
                         char **err)
{
    struct table *table = calloc(1, sizeof *table);
    int rc = table ? declare(db) : SQLITE_NOMEM;
    if (rc != SQLITE_OK) {
        free(table);
        return rc;
    }
    table->source = user;
    *ret = &table->base;
    return SQLITE_OK;
}

static int disconnect_table(struct sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

/* There is one plan: a scan from the first row to the last. */
static int plan(struct sqlite3_vtab *table, struct sqlite3_index_info *info)
{
    return SQLITE_OK;
}

/* ---- cursor ---- */

static int open_cursor(struct sqlite3_vtab *base,
                       struct sqlite3_vtab_cursor **ret)
{
    struct cursor *c = calloc(1, sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    c->source = ((struct table *)base)->source;
    *ret = &c->base;
    return SQLITE_OK;
}

static int close_cursor(struct sqlite3_vtab_cursor *cursor)
{
    free(cursor);
    return SQLITE_OK;
}

static int next(struct sqlite3_vtab_cursor *cursor)
{
    struct cursor *c = (struct cursor *)cursor;
    struct pfdd_row_source *s = c->source;
    struct pfdd_log_record_made note;
    size_t at = 0;
    c->is_end = c->next == s->n;
    if (c->is_end)
        return SQLITE_OK;
    pfdd_log_record_at(s->notes + c->next, s->n - c->next, &note);
    for (size_t i = 0; i < PFDD_ROW_COLUMNS; i++)
        at += pfdd_row_value(note.bytes + at, note.n - at, &c->values[i]);
    c->next += note.n_whole;
    s->row++;
    s->n_rows++;
    s->sequence = note.sequence;
    s->time = note.time;
    return SQLITE_OK;
}

static int first(struct sqlite3_vtab_cursor *cursor, int index,
                 const char *index_name, int n_values,
                 struct sqlite3_value **values)
{
    ((struct cursor *)cursor)->next = 0;
    return next(cursor);
}

static int is_end(struct sqlite3_vtab_cursor *cursor)
{
    return ((const struct cursor *)cursor)->is_end;
}

/* The bytes of a value stay valid until its row is written. */
static int column(struct sqlite3_vtab_cursor *cursor,
                  struct sqlite3_context *result, int at)
{
    const struct cursor *c = (const struct cursor *)cursor;
    if (!at) {
        sqlite3_result_int64(result, (int64_t)c->source->row);
        return SQLITE_OK;
    }
    const struct pfdd_value *v = &c->values[at - 1];
    switch (v->kind) {
    case PFDD_VALUE_NULL: /* a result is NULL by default */
        break;
    case PFDD_VALUE_INTEGER:
        sqlite3_result_int64(result, v->number);
        break;
    case PFDD_VALUE_TEXT:
        sqlite3_result_text(result, v->at, (int)v->n, SQLITE_STATIC);
        break;
    case PFDD_VALUE_BYTES:
        sqlite3_result_blob(result, v->at, (int)v->n, SQLITE_STATIC);
        break;
    }
    return SQLITE_OK;
}

static int row_number(struct sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret)
{
    *ret = (int64_t)((const struct cursor *)cursor)->source->row;
    return SQLITE_OK;
}

static const struct sqlite3_module module = {
    .xCreate = connect_table,
    .xConnect = connect_table,
    .xBestIndex = plan,
    .xDisconnect = disconnect_table,
    .xDestroy = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = first,
    .xNext = next,
    .xEof = is_end,
    .xColumn = column,
    .xRowid = row_number,
};

bool pfdd_row_table_add(struct sqlite3 *db, struct pfdd_row_source *source)
{
    return sqlite3_create_module(db, "pfdd_notes", &module, source) ==
               SQLITE_OK &&
           sqlite3_exec(
               db, "CREATE VIRTUAL TABLE " PFDD_ROW_TABLE " USING pfdd_notes",
               NULL, NULL, NULL) == SQLITE_OK;
}
