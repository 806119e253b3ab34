/* SPDX-License-Identifier: MIT */
/*
 * Sorts the rows of a conversion into tables. A single table is written as its
 * rows come. With several, rows wait in a file without a name until the end,
 * and are then written table by table: memory does not grow with them.
 */
#include "analysis/table/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/table/table_title.h"

enum {
    WAITING_MAX = 32 << 20, /* bytes of rows of all tables, in memory */
    SORTED_MAX = 64 << 20,  /* bytes of rows that are sorted at once */
    GROUPS_MAX = 256 << 20, /* bytes of groups */
};

/* Sets the error, unless one is set. Always false. */
static bool tables_fail(struct pfd_tables *t, enum pfd_status code,
                        const char *text)
{
    if (t->error.code == PFD_OK)
        pfd_fail(&t->error, code, PFD_NO_OFFSET, "%s", text);
    return false;
}

static bool fail_memory(struct pfd_tables *t)
{
    return tables_fail(t, PFD_ERR_NOMEM, "out of memory");
}

/* ---- the table of a row ---- */

/* For one more table. */
static bool has_room(struct pfd_tables *t)
{
    if (t->n & (t->n - 1)) /* doubled when full */
        return true;
    void *all = realloc(t->all, (2 * t->n + 1) * sizeof(void *));
    t->all = all ? all : t->all;
    return all;
}

static struct pfd_one_table *add_table(struct pfd_tables *t, const char *text,
                                       size_t n)
{
    struct pfd_one_table *one = has_room(t) ? calloc(1, sizeof *one) : NULL;
    if (one)
        one->format = malloc(n + 1);
    if (!one || !one->format) {
        free(one);
        fail_memory(t);
        return NULL;
    }
    if (n)
        memcpy(one->format, text, n);
    one->n_format = n;
    pfd_title_make(one->name, sizeof one->name, text, n);
    pfd_title_avoid(one->name, sizeof one->name, t->form);
    t->all[t->n++] = one;
    if (!pfd_unique_names_give(&t->unique_names, one->name, sizeof one->name))
        fail_memory(t);
    return one;
}

/* Rows of equal text share a table, from any module. */
static struct pfd_one_table *by_text(struct pfd_tables *t, const char *text,
                                     size_t n)
{
    uint32_t i = pfd_dictionary_add(&t->texts, text, n);
    if (t->texts.failed) {
        fail_memory(t);
        return NULL;
    }
    return i < t->n ? t->all[i] : add_table(t, text, n);
}

static struct pfd_one_table *table_of(struct pfd_tables *t,
                                      const struct pfd_row *row)
{
    struct pfd_string_info info;
    if (row->string == PFD_ROW_SYNTHESIZED)
        return by_text(t, pfd_row_bytes(row, row->text), row->text.n);
    if (row->string >= t->n_strings)
        return NULL;
    struct pfd_one_table **known = &t->by_string[row->string];
    if (!*known) {
        pfd_strings_get(t->spec.strings, row->string, &info);
        *known = by_text(t, info.text, info.n_text);
    }
    return *known;
}

/* ---- writing a table ---- */

/* The written columns. */
struct shape {
    const struct pfd_table_column *columns; /* [n] */
    size_t n;
};

static void init_writer(struct pfd_tables *t, struct pfd_one_table *one,
                        const struct shape *shape)
{
    one->writer = (struct pfd_table_writer){
        .name = one->name,
        .format = one->format,
        .n_format = one->n_format,
        .columns = shape->columns,
        .n_columns = shape->n,
        .n_tables = t->spec.all ? 0 : 1,
        .width = t->spec.width,
        .table_target = &t->table_target,
        .counts = &t->counts,
        .file = t->file,
    };
}

/* "FOLDER/NAME.csv" of a table. */
struct own_path {
    char text[4096];
};

static struct own_path own_path(const struct pfd_tables *t,
                                const struct pfd_one_table *one)
{
    struct own_path ret;
    const char *suffixes = t->form->info.suffixes;
    snprintf(ret.text, sizeof ret.text, "%s/%s%.*s", t->spec.to, one->name,
             (int)strcspn(suffixes, " "), suffixes);
    return ret;
}

static bool open_own(struct pfd_tables *t, const struct pfd_one_table *one)
{
    return pfd_table_target_open(&t->table_target, own_path(t, one).text);
}

static void ask_for_all(struct pfd_tables *t)
{
    for (size_t i = 0; i < t->n && t->spec.may_write; i++) {
        if (!t->spec.may_write(t->spec.may_write_user,
                               own_path(t, t->all[i]).text))
            tables_fail(t, PFD_ERR_STOPPED, "a file may not be written");
    }
}

/* The last step of rows. */
struct step {
    struct pfd_tables *tables;
    struct pfd_one_table *one;
};

static void fail_sorting(struct pfd_tables *t, const struct pfd_sorter *sorter)
{
    const struct pfd_error *why = pfd_sorter_error(sorter);
    if (why->code != PFD_OK && t->error.code == PFD_OK)
        t->error = *why;
    fail_memory(t);
}

static void write_rows(void *user, const struct pfd_columns *batch)
{
    const struct step *step = user;
    struct pfd_tables *t = step->tables;
    if (t->table_target.error.code == PFD_OK && t->error.code == PFD_OK)
        t->form->batch(&step->one->writer, batch);
}

static void sort_rows(void *user, const struct pfd_columns *batch)
{
    const struct step *step = user;
    if (!pfd_sorter_add(step->one->sorter, batch))
        fail_sorting(step->tables, step->one->sorter);
}

static void write_batch(struct pfd_tables *t, struct pfd_one_table *one)
{
    struct step step = { t, one };
    if (pfd_columns_failed(&one->batch)) {
        fail_memory(t);
    } else if (!one->batch.n_rows) {
        return;
    } else if (one->group) {
        if (!pfd_group_add(one->group, &one->batch))
            fail_memory(t);
    } else if (one->sorter) {
        sort_rows(&step, &one->batch);
    } else {
        write_rows(&step, &one->batch);
    }
    pfd_columns_clear(&one->batch);
    one->n_batch_bytes = 0;
}

static void fill(struct pfd_tables *t, struct pfd_one_table *one,
                 const struct pfd_row *row, uint32_t source)
{
    pfd_schema_fill(&one->schema, &one->batch, row,
                    source < t->n_sources ? t->sources[source] : "-",
                    &t->counts);
    one->n_batch_bytes += row->n_bytes;
    if (one->batch.n_rows == PFD_BATCH_ROWS ||
        one->n_batch_bytes > PFD_BATCH_BYTES)
        write_batch(t, one);
}

static void fill_all(struct pfd_tables *t, struct pfd_one_table *one,
                     const void *rows, size_t n)
{
    const struct pfd_row *row;
    for (size_t at = 0; (row = pfd_row_next(rows, n, &at));)
        fill(t, one, row, row->source);
}

/* Finds a column by name, or an argument by its place; SIZE_MAX: none, which is
 * an error. */
static size_t find_column(struct pfd_tables *t, const struct shape *shape,
                          const char *name)
{
    for (size_t i = 0; i < shape->n; i++) {
        if (!strcmp(shape->columns[i].name, name))
            return i;
    }
    for (size_t i = 0; i < shape->n; i++) {
        char place[16];
        snprintf(place, sizeof place, "a%u", shape->columns[i].number);
        if (shape->columns[i].from == PFD_FROM_ARGUMENT && !strcmp(place, name))
            return i;
    }
    if (t->error.code == PFD_OK) {
        pfd_columns_list(shape->columns, shape->n, t->known);
        pfd_columns_fail(&t->error, name, strlen(name), t->known);
    }
    return SIZE_MAX;
}

static bool begin_group(struct pfd_tables *t, struct pfd_one_table *one,
                        struct shape *shape)
{
    size_t n = t->spec.n_group_by;
    size_t *by = calloc(n + 1, sizeof *by);
    if (!n && !t->spec.n_aggregates) {
        free(by);
        return true;
    }
    if (!by)
        return fail_memory(t);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        by[i] = find_column(t, shape, t->spec.group_by[i]);
        ok = by[i] != SIZE_MAX;
    }
    if (ok) {
        one->group =
            pfd_group_new(shape->columns, shape->n, by, n, t->spec.aggregates,
                          t->spec.n_aggregates, GROUPS_MAX);
        ok = one->group || fail_memory(t);
    }
    if (ok)
        shape->columns = pfd_group_columns(one->group, &shape->n);
    free(by);
    return ok;
}

static bool begin_sorter(struct pfd_tables *t, struct pfd_one_table *one,
                         const struct shape *shape)
{
    const char *name = t->spec.sort;
    bool descending = name && *name == '-';
    if (!name)
        return true;
    size_t by = find_column(t, shape, name + descending);
    if (by == SIZE_MAX)
        return false;
    one->sorter = pfd_sorter_new(shape->columns, shape->n, by, descending,
                                 t->spec.top, SORTED_MAX);
    return one->sorter || fail_memory(t);
}

/* Has any table the columns that were asked for? */
static bool check_columns(struct pfd_tables *t)
{
    for (size_t i = 0; i < t->spec.n_columns && t->counts.tables; i++) {
        if (!t->found[i]) {
            const char *name = t->spec.columns[i];
            pfd_columns_fail(&t->error, name, strcspn(name, "="), t->known);
            return false;
        }
    }
    return true;
}

/* Derives the columns from rows, [n] bytes. False: none of the wanted columns is
 * among them, or an error. */
static bool begin(struct pfd_tables *t, struct pfd_one_table *one,
                  const void *rows, size_t n)
{
    const struct pfd_schema_spec spec = {
        .strings = t->spec.strings,
        .chosen = t->spec.columns,
        .n_chosen = t->spec.n_columns,
        .found = t->found,
        .known = t->known,
        .has_sources = t->has_sources,
        .has_messages = t->form->wants_messages,
    };
    t->counts.tables++;
    one->is_begun = true;
    if (!pfd_schema_init(&one->schema, &spec, rows, n) ||
        !pfd_columns_init(&one->batch, one->schema.columns, one->schema.n))
        return fail_memory(t);
    if (!one->schema.n || (!t->spec.all && !check_columns(t)))
        return false;
    struct shape shape = { one->schema.columns, one->schema.n };
    if (!begin_group(t, one, &shape) || !begin_sorter(t, one, &shape))
        return false;
    init_writer(t, one, &shape);
    one->writer.state = calloc(1, t->form->state_size + 1);
    if (!one->writer.state)
        return fail_memory(t);
    if (t->has_own_files && !open_own(t, one))
        return false;
    if (t->form->begin)
        t->form->begin(&one->writer);
    return true;
}

static void end(struct pfd_tables *t, struct pfd_one_table *one)
{
    struct step step = { t, one };
    write_batch(t, one);
    if (one->group && t->error.code == PFD_OK &&
        !pfd_group_end(one->group, one->sorter ? sort_rows : write_rows, &step,
                       &t->counts))
        fail_memory(t);
    if (one->sorter && t->error.code == PFD_OK &&
        !pfd_sorter_end(one->sorter, write_rows, &step))
        fail_sorting(t, one->sorter);
    if (t->form->end && one->writer.state)
        t->form->end(&one->writer);
    pfd_group_free(one->group);
    pfd_sorter_free(one->sorter);
    one->group = NULL;
    one->sorter = NULL;
    if (t->has_own_files && !pfd_table_target_close(&t->table_target) &&
        t->error.code == PFD_OK)
        t->error = t->table_target.error;
}

static void free_one(struct pfd_one_table *one)
{
    pfd_group_free(one->group);
    pfd_sorter_free(one->sorter);
    pfd_columns_deinit(&one->batch);
    pfd_schema_deinit(&one->schema);
    pfd_text_free(&one->waiting);
    free(one->writer.state);
    free(one->blocks);
    free(one->format);
    free(one);
}

/* ---- waiting rows ---- */

static void wait_row(struct pfd_tables *t, struct pfd_one_table *one,
                     const struct pfd_row *row)
{
    size_t at = one->waiting.n;
    pfd_text_add(&one->waiting, row, row->n_bytes);
    if (one->waiting.failed) {
        fail_memory(t);
        return;
    }
    ((struct pfd_row *)(void *)(one->waiting.data + at))->source =
        (uint32_t)t->n_sources - 1;
    t->n_waiting += row->n_bytes;
}

static bool add_block(struct pfd_tables *t, struct pfd_one_table *one)
{
    if ((one->n_blocks & (one->n_blocks - 1)) == 0) { /* doubled when full */
        size_t room = one->n_blocks ? 2 * one->n_blocks : 1;
        void *blocks = realloc(one->blocks, room * sizeof *one->blocks);
        if (!blocks)
            return fail_memory(t);
        one->blocks = blocks;
    }
    one->blocks[one->n_blocks++] =
        (struct pfd_range){ t->n_spool, t->n_spool + one->waiting.n };
    return true;
}

/* Moves the waiting rows of all tables to the file. */
static void spool(struct pfd_tables *t)
{
    if (!t->has_spool) {
        t->has_spool = true;
        pfd_table_target_open_scratch(&t->spool);
    }
    for (size_t i = 0; i < t->n; i++) {
        struct pfd_one_table *one = t->all[i];
        if (!one->waiting.n || !add_block(t, one))
            continue;
        pfd_table_target_put(&t->spool, one->waiting.data, one->waiting.n);
        t->n_spool += one->waiting.n;
        pfd_text_free(&one->waiting);
    }
    t->n_waiting = 0;
    if (t->spool.error.code != PFD_OK && t->error.code == PFD_OK)
        t->error = t->spool.error;
}

/* Writes a table whose rows have all come. */
static void replay(struct pfd_tables *t, struct pfd_one_table *one)
{
    struct pfd_text rows = { 0 };
    for (size_t i = 0; i <= one->n_blocks && t->error.code == PFD_OK; i++) {
        const void *bytes = one->waiting.data;
        size_t n = one->waiting.n;
        if (i < one->n_blocks) {
            n = (size_t)(one->blocks[i].to - one->blocks[i].from);
            rows.n = 0;
            bytes = pfd_text_reserve(&rows, n);
            if (!bytes || !pfd_table_target_read(&t->spool, one->blocks[i].from,
                                                 rows.data, n))
                break;
        }
        if (n && (one->is_begun || begin(t, one, bytes, n)))
            fill_all(t, one, bytes, n);
    }
    if (rows.failed)
        fail_memory(t);
    if (t->spool.error.code != PFD_OK && t->error.code == PFD_OK)
        t->error = t->spool.error;
    pfd_text_free(&rows);
    if (one->is_begun)
        end(t, one);
    pfd_columns_deinit(&one->batch);
    pfd_text_free(&one->waiting);
}

/* ---- rows on arrival ---- */

static void add_row(struct pfd_tables *t, const struct pfd_row *row)
{
    if (row->string == PFD_ROW_LINE)
        return;
    if (row->string == PFD_ROW_NO_STRING) {
        t->counts.unknown++;
        return;
    }
    struct pfd_one_table *one = table_of(t, row);
    if (!one)
        return;
    if (!t->spec.all && one != t->all[0]) {
        t->counts.others++;
    } else if (one->is_begun) {
        fill(t, one, row, (uint32_t)t->n_sources - 1);
    } else {
        wait_row(t, one, row);
        if (t->spec.all && t->n_waiting > WAITING_MAX) {
            spool(t);
        } else if (!t->spec.all && one->waiting.n > PFD_BATCH_BYTES &&
                   begin(t, one, one->waiting.data, one->waiting.n)) {
            fill_all(t, one, one->waiting.data, one->waiting.n);
            pfd_text_free(&one->waiting);
        }
    }
}

static bool take_rows(void *user, const void *bytes, size_t n)
{
    struct pfd_tables *t = user;
    const struct pfd_row *row;
    for (size_t at = 0;
         t->error.code == PFD_OK && (row = pfd_row_next(bytes, n, &at));)
        add_row(t, row);
    if (t->error.code == PFD_OK)
        t->error = t->table_target.error;
    return t->error.code == PFD_OK;
}

const struct pfd_consumer *pfd_tables_consumer(const struct pfd_tables *t)
{
    return &t->consumer;
}

/* ---- all tables ---- */

static const struct pfd_table_form *find_form(const char *name)
{
    for (size_t i = 0; pfd_table_forms[i]; i++) {
        if (!strcmp(pfd_table_forms[i]->info.name, name))
            return pfd_table_forms[i];
    }
    return NULL;
}

static bool open_target(struct pfd_tables *t)
{
    const char *to = t->spec.to;
    if (!to) {
        t->table_target = (struct pfd_table_target){
            .write = t->spec.write,
            .write_user = t->spec.write_user,
            .fd = -1,
        };
        return true;
    }
    if (!t->has_own_files)
        return pfd_table_target_open(&t->table_target, to);
    t->table_target = (struct pfd_table_target){ .fd = -1 };
    if (mkdir(to, 0777) && errno != EEXIST) {
        pfd_fail(&t->error, PFD_ERR_IO, PFD_NO_OFFSET, "%s: %s", to,
                 strerror(errno));
        return false;
    }
    return true;
}

static bool start(struct pfd_tables *t)
{
    const struct pfd_table_spec *spec = &t->spec;
    for (size_t i = 0; i < spec->n_aggregates; i++) {
        if (!pfd_group_knows(spec->aggregates[i])) {
            pfd_fail(&t->error, PFD_ERR_USAGE, PFD_NO_OFFSET,
                     "no aggregate is called '%s'; there are: count, min, max, "
                     "mean, std, p50, p99, nan, first, last",
                     spec->aggregates[i]);
            return false;
        }
    }
    const struct pfd_table_output *info = &t->form->info;
    t->n_strings = pfd_strings_count(spec->strings);
    t->by_string = calloc(t->n_strings + 1, sizeof(struct pfd_one_table *));
    t->found = calloc(spec->n_columns + 1, sizeof *t->found);
    t->file = calloc(1, t->form->file_size + 1);
    if (!t->by_string || !t->found || !t->file)
        return fail_memory(t);
    if (!spec->to && info->wants_file)
        return tables_fail(t, PFD_ERR_USAGE, "this output needs a file");
    if (!spec->to && spec->all && !info->holds_all) {
        return tables_fail(
            t, PFD_ERR_USAGE,
            "this output holds one table: several need a folder");
    }
    t->has_own_files = spec->all && !info->holds_all;
    if (!open_target(t))
        return false;
    if (!t->has_own_files && t->form->open) {
        struct pfd_table_writer w = { .table_target = &t->table_target,
                                      .counts = &t->counts,
                                      .n_tables = spec->all ? 0 : 1,
                                      .file = t->file };
        t->form->open(&w);
    }
    return true;
}

enum pfd_status pfd_tables_new(const struct pfd_table_spec *spec,
                               struct pfd_tables **ret, struct pfd_error *err)
{
    const char *name = spec->output ? spec->output : "text";
    const struct pfd_table_form *form =
        spec->form ? spec->form : find_form(name);
    *ret = NULL;
    if (!form) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "no output of tables is called '%s'", name);
    }
    struct pfd_tables *t = calloc(1, sizeof *t);
    if (!t)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    t->spec = *spec;
    t->consumer = (struct pfd_consumer){ .sink = &pfd_sink_rows,
                                         .take = take_rows,
                                         .user = t };
    t->form = form;
    if (start(t) && t->table_target.error.code == PFD_OK) {
        *ret = t;
        return PFD_OK;
    }
    struct pfd_error why =
        t->error.code != PFD_OK ? t->error : t->table_target.error;
    pfd_tables_free(t);
    if (err)
        *err = why;
    return why.code;
}

bool pfd_tables_want_messages(const struct pfd_tables *t)
{
    bool wanted = t->form->wants_messages && !t->spec.n_columns;
    for (size_t i = 0; i < t->spec.n_columns; i++) {
        const char *name = t->spec.columns[i];
        wanted |= strcspn(name, "=") == 7 && !memcmp(name, "message", 7);
    }
    return wanted;
}

void pfd_tables_set_source(struct pfd_tables *t, const char *name, bool is_one)
{
    char **sources = realloc(t->sources, (t->n_sources + 1) * sizeof *sources);
    if (sources)
        t->sources = sources;
    char *copy = strdup(name);
    if (!sources || !copy) {
        free(copy);
        fail_memory(t);
        return;
    }
    t->sources[t->n_sources++] = copy;
    t->has_sources |= is_one;
}

static void finish(struct pfd_tables *t)
{
    if (t->has_own_files)
        ask_for_all(t);
    for (size_t i = 0; i < t->n && t->error.code == PFD_OK; i++) {
        struct pfd_one_table *one = t->all[i];
        if (t->spec.all || !one->is_begun) {
            replay(t, one);
        } else {
            end(t, one);
        }
        if (!t->spec.all)
            break;
    }
}

enum pfd_status pfd_tables_end(struct pfd_tables *t,
                               struct pfd_table_counts *counts,
                               struct pfd_error *err)
{
    if (t->error.code == PFD_OK)
        finish(t);
    if (!t->has_own_files) {
        struct pfd_table_writer w = { .table_target = &t->table_target,
                                      .counts = &t->counts,
                                      .n_tables = t->spec.all ? 0 : 1,
                                      .file = t->file };
        if (t->form->close)
            t->form->close(&w);
        pfd_table_target_close(&t->table_target);
    }
    if (t->error.code == PFD_OK)
        t->error = t->table_target.error;
    if (t->error.code == PFD_OK)
        check_columns(t);
    *counts = t->counts;
    if (t->error.code != PFD_OK && err)
        *err = t->error;
    return t->error.code;
}

void pfd_tables_free(struct pfd_tables *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++)
        free_one(t->all[i]);
    for (size_t i = 0; i < t->n_sources; i++)
        free(t->sources[i]);
    if (t->has_spool)
        pfd_table_target_close(&t->spool);
    if (t->table_target.path)
        pfd_table_target_close(&t->table_target);
    pfd_text_free(&t->table_target.pending);
    pfd_unique_names_free(&t->unique_names);
    free(t->all);
    pfd_dictionary_free(&t->texts);
    free(t->sources);
    free(t->by_string);
    free(t->found);
    free(t->file);
    free(t);
}
