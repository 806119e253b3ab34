/* SPDX-License-Identifier: MIT */
/* printfdecode table: prints arguments of entries as columns. */
#include "analysis/table/table.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "input/convert_inputs.h"
#include "input/filter.h"
#include "input/open_inputs.h"
#include "input/select_string.h"
#include "options/word_list.h"
#include "output_files.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

/* The verb's values. */
struct table_options {
    struct options common;
    bool all;             /* a table for each format string */
    struct words columns; /* columns and their types */
    struct words group_by;
    struct words aggregates;
    const char *sort;
    const char *distinct;
    uint64_t top;
};

static const struct table_options *own(const struct options *o)
{
    return (const struct table_options *)o;
}

struct table {
    const struct options *o;
    struct inputs *in;
    struct filtering *filtering;
    struct pfd_tables *tables;
    struct word_list columns;
    struct word_list group_by;
    struct word_list aggregates;
    char sort[128];
    bool is_refused; /* a file must not be written; an error was printed */
};

/* ---- the command line ---- */

/* Reads lists of words, and expands --distinct and --top. */
static bool read_words(struct table *t)
{
    const struct options *o = t->o;
    const struct words usual = { (const char *[]){ "count,min,max,mean" }, 1 };
    const struct words count = { (const char *[]){ "count" }, 1 };
    const struct words distinct = { (const char *[]){ own(o)->distinct }, 1 };
    bool is_grouped =
        own(o)->group_by.n || own(o)->aggregates.n || own(o)->distinct;
    if (own(o)->distinct && (own(o)->group_by.n || own(o)->aggregates.n)) {
        message_error("--distinct is --group-by of one column: one is enough");
        return false;
    }
    if (own(o)->top && !own(o)->sort && !is_grouped) {
        message_error("the top of what? --sort is missing");
        return false;
    }
    bool counts =
        !own(o)->aggregates.n; /* without aggregates, rows are counted */
    for (size_t i = 0; i < own(o)->aggregates.n; i++)
        counts |= strstr(own(o)->aggregates.all[i], "count") != NULL;
    const char *sort = own(o)->sort ? own(o)->sort
                       : is_grouped && (own(o)->top || own(o)->distinct)
                           ? "-count"
                           : "";
    if (!own(o)->sort && own(o)->top && !counts) {
        message_error(
            "the top of what? --sort or the aggregate count is missing");
        return false;
    }
    snprintf(t->sort, sizeof t->sort, "%s%s",
             own(o)->top && *sort && *sort != '-' ? "-" : "", sort);
    return word_list_split(&own(o)->columns, &t->columns) &&
           word_list_split(own(o)->distinct ? &distinct : &own(o)->group_by,
                           &t->group_by) &&
           word_list_split(own(o)->distinct       ? &count
                           : own(o)->aggregates.n ? &own(o)->aggregates
                           : own(o)->group_by.n   ? &usual
                                                  : &own(o)->aggregates,
                           &t->aggregates);
}

static bool has_suffix(const char *path, const char *suffixes)
{
    size_t n_path = strlen(path);
    for (const char *at = suffixes; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (n_path > n && !strncasecmp(path + n_path - n, at, n))
            return true;
        at += n;
    }
    return false;
}

/* Chooses the form by -o, or by the file's suffix; text if there is neither. An
 * unknown suffix is an error, since text was probably not intended. */
static bool find_form(const struct options *o, struct pfd_table_output *ret)
{
    char list[256] = "";
    const char *base = o->to && !own(o)->all ? strrchr(o->to, '/') : NULL;
    base = base ? base + 1 : o->to && !own(o)->all ? o->to : "";
    for (size_t i = 0; pfd_table_output_get(i, ret) == PFD_OK; i++) {
        size_t n = strlen(list);
        if (o->output ? !strcmp(o->output, ret->name)
                      : o->to && has_suffix(o->to, ret->suffixes))
            return true;
        snprintf(list + n, sizeof list - n, "%s%s", n ? " " : "",
                 ret->suffixes);
    }
    if (*base && strchr(base + 1, '.')) {
        message_error("%s: which form? Names end in one of %s, or -o says it",
                      o->to, list);
        return false;
    }
    pfd_table_output_get(0, ret);
    return true;
}

/* Width of the terminal in characters; 0: no terminal. */
static size_t terminal_width(const struct options *o)
{
    struct winsize size;
    if (o->to || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        return 0;
    return size.ws_col;
}

/* SQLite treats files beside a new database as remains of an old one, and
 * deletes them. */
static bool may_have_beside(const struct options *o, const char *form)
{
    static const char *const ends[] = { "-journal", "-wal" };
    bool is_sqlite = o->to && !strcmp(form, "sqlite");
    bool ok = true;
    char *real = is_sqlite ? realpath(o->to, NULL) : NULL;
    for (size_t i = 0; is_sqlite && i < 2; i++) {
        char path[4096];
        if ((size_t)snprintf(path, sizeof path, "%s%s", real ? real : o->to,
                             ends[i]) < sizeof path)
            ok = output_file_check_at(o, AT_FDCWD, path) && ok;
    }
    free(real);
    return ok;
}

/* ---- results ---- */

static void message_count(uint64_t n, const char *one, const char *several)
{
    if (n)
        message_hint("%llu %s", (unsigned long long)n, n == 1 ? one : several);
}

static void message_counts(const struct pfd_table_counts *c, bool grouped)
{
    if (grouped) {
        message_count(c->findings, "row that was counted has findings",
                      "rows that were counted have findings");
    }
    message_count(c->ungrouped,
                  "row is left out: there is no memory for more groups",
                  "rows are left out: there is no memory for more groups");
    if (c->long_head) {
        message_hint("numpy.load() reads a header of so many columns with "
                     "max_header_size=%llu only; --columns chooses fewer",
                     (unsigned long long)c->long_head);
    }
    if (c->sketched) {
        message_hint("%llu of p50 and p99 are not exact: their rank is off by "
                     "%.2g %% of all at most",
                     (unsigned long long)c->sketched, 100 * c->off);
    }
    message_count(c->unknown, "entry of an unknown id is in no table",
                  "entries of unknown ids are in no table");
    message_count(c->others, "entry of another format string is left out",
                  "entries of other format strings are left out");
    message_count(c->misfits,
                  "value does not fit its column, and is null there",
                  "values do not fit their columns, and are null there");
    message_count(c->extra, "argument has no column, and is left out",
                  "arguments have no column, and are left out");
    message_count(c->escaped, "text is not UTF-8: bytes of it stand as \\xNN",
                  "texts are not UTF-8: bytes of them stand as \\xNN");
    message_count(c->raw,
                  "text is not UTF-8: its bytes are written as they are",
                  "texts are not UTF-8: their bytes are written as they are");
}

/* Called before each of several files is written. */
static bool may_write(void *user, const char *path)
{
    struct table *t = user;
    bool ok = output_file_check_at(t->o, AT_FDCWD, path);
    t->is_refused |= !ok;
    return ok;
}

static void begin_buffer(void *user, struct pfd_convert *convert,
                         const struct buffer *buffer)
{
    struct table *t = user;
    convert->row_time = buffer->capture ? buffer->captured.time : 0;
    pfd_tables_set_source(t->tables, buffer->name, t->in->n_buffers > 1);
}

static int make_tables(struct table *t)
{
    const struct options *o = t->o;
    struct pfd_summary total = { 0 };
    struct pfd_table_counts counts = { 0 };
    struct pfd_error err = { 0 };
    struct pfd_convert convert = {
        .strings = t->in->strings,
        .format = o->reading.format,
        .options = &o->reading.decoding,
        .threads = o->threads,
        .filter = t->filtering->filter,
        .n_emitted = &t->filtering->n_given,
        .n_doubts = &t->filtering->n_doubts,
        .skip = o->range.skip,
        .limit = o->range.limit,
        .no_entries = !o->range.limit,
        .output = pfd_tables_want_messages(t->tables) ? "raw" : NULL,
        .consumer = pfd_tables_consumer(t->tables),
    };
    bool ok = convert_each(o, t->in, &convert, &total, begin_buffer, t);
    enum pfd_status status = pfd_tables_end(t->tables, &counts, &err);
    if (status != PFD_OK && status != PFD_ERR_STOPPED)
        message_error("%s", err.text);
    message_counts(&counts, t->aggregates.n > 0);
    ok = ok && !t->in->failed && !t->is_refused && !output_failed() &&
         (status == PFD_OK || status == PFD_ERR_STOPPED);
    total.findings += t->in->n_findings;
    if (t->in->n_buffers && (total.findings || o->verbose))
        message_summary(&total);
    return !ok ? EXIT_ERROR : total.findings ? EXIT_FINDINGS : EXIT_CLEAN;
}

static int run(struct table *t)
{
    struct pfd_table_output form;
    struct pfd_error err;
    struct selected_string one = { 0 };
    struct pfd_table_spec spec = {
        .strings = t->in->strings,
        .to = t->o->to,
        .write = output_write,
        .all = own(t->o)->all,
        .width = terminal_width(t->o),
        .may_write = may_write,
        .may_write_user = t,
    };
    if (!read_words(t) || !find_form(t->o, &form) ||
        !may_have_beside(t->o, form.name))
        return EXIT_ERROR;
    spec.output = form.name;
    spec.columns = (const char *const *)t->columns.all;
    spec.n_columns = t->columns.n;
    spec.group_by = (const char *const *)t->group_by.all;
    spec.n_group_by = t->group_by.n;
    spec.aggregates = (const char *const *)t->aggregates.all;
    spec.n_aggregates = t->aggregates.n;
    spec.sort = *t->sort ? t->sort : NULL;
    spec.top = own(t->o)->top;
    if (!own(t->o)->all &&
        !selected_string_find(
            t->o, t->in, t->filtering, "a table",
            "choose by --format-string or --id, or give --all", &one)) {
        selected_string_deinit(&one);
        return EXIT_ERROR;
    }
    selected_string_deinit(&one);
    if (pfd_tables_new(&spec, &t->tables, &err) != PFD_OK) {
        message_error("%s", err.text);
        return EXIT_ERROR;
    }
    return make_tables(t);
}

static int table_run(const struct options *o)
{
    struct inputs in;
    struct filtering filtering = { 0 };
    struct table t = { .o = o, .in = &in, .filtering = &filtering };
    if (!filtering_open(&filtering, &o->filter))
        return EXIT_ERROR;
    inputs_open(&in, o, message_finding, NULL);
    inputs_want_buffers(&in, "; 'printfdecode strings' lists format strings");
    int status = in.failed && !in.n_buffers ? EXIT_ERROR : run(&t);
    pfd_tables_free(t.tables);
    filtering_end(&filtering, in.strings);
    inputs_close(&in);
    word_list_free(&t.columns);
    word_list_free(&t.group_by);
    word_list_free(&t.aggregates);
    return filtering_close(&filtering, status);
}

static bool set_output(struct options *o, const struct option_row *row,
                       const char *text)
{
    struct pfd_table_output output;
    char list[OPTION_LIST] = "";
    (void)row;
    for (size_t i = 0; pfd_table_output_get(i, &output) == PFD_OK; i++) {
        option_list(list, "", output.name);
        if (!strcmp(text, output.name)) {
            o->output = output.name;
            return true;
        }
    }
    message_error("no such output: '%s'; 'table' has: %s", text, list);
    return false;
}

static const struct option_row rows[] = {
    { "output", 'o', "FORM",
      "text (default), csv, tsv, json (one object a line), npy (NumPy), arrow, sqlite",
      offsetof(struct options, output), set_output, false },
    { "to", 0, "FILE",
      "where to write; its name's end chooses the form (--all: a folder)",
      offsetof(struct options, to), option_output_file, false },
    { "all", 0, NULL, "a table for each format string, not of one only",
      offsetof(struct table_options, all), option_flag, false },
    { "columns", 0, "NAMES",
      "these columns, in this order; NAME=NEW renames; with commas between",
      offsetof(struct table_options, columns), option_words, true },
    { "group-by", 0, "NAMES",
      "a row for all that have equal values in these columns",
      offsetof(struct table_options, group_by), option_words, true },
    { "agg", 0, "WHAT",
      "of the others: count, min, max, mean, std, p50, p99, nan, first, last (default: count,min,max,mean)",
      offsetof(struct table_options, aggregates), option_words, true },
    { "sort", 0, "NAME",
      "in the order of this column; -NAME: the greatest first",
      offsetof(struct table_options, sort), option_text, false },
    { "top", 0, "N", "only N rows; of --sort NAME the greatest",
      offsetof(struct table_options, top), option_positive, false },
    { "distinct", 0, "NAME",
      "each value of this column, and how often it is there",
      offsetof(struct table_options, distinct), option_text, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,     OPTIONS_READING, &options_filter,
    &options_skip,  &options_limit,  &options_work,
    &options_force, OPTIONS_ENDING,  NULL,
};

const struct verb verb_table = {
    .name = "table",
    .files = "BUFFER [FILE...]",
    .help = "arguments as columns: text, CSV, JSON, NumPy and others",
    .run = table_run,
    .groups = groups,
    .size = sizeof(struct table_options),
};
