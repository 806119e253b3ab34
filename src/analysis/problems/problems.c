/* SPDX-License-Identifier: MIT */
#include "analysis/problems/problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/problems/problems_form.h"
#include "core/base/dictionary.h"

enum {
    PROBLEMS_MAX = 10000,
    MESSAGE_MAX = 4096, /* bytes of a message and of a file's name */
    ROWS_MAX = 200,     /* of a summary */
};

const struct pfd_problems_form *pfd_problems_form_get(size_t i)
{
    size_t n = 0;
    while (pfd_problems_forms[n])
        n++;
    return i < n ? pfd_problems_forms[i] : NULL;
}

const struct pfd_problems_form *pfd_problems_form_find(const char *name)
{
    for (size_t i = 0; name && pfd_problems_forms[i]; i++) {
        if (!strcmp(pfd_problems_forms[i]->name, name))
            return pfd_problems_forms[i];
    }
    return NULL;
}

const char *pfd_problems_form_name(const struct pfd_problems_form *form)
{
    return form->name;
}

bool pfd_problems_form_has_lines(const struct pfd_problems_form *form)
{
    return form->has_lines;
}

bool pfd_problems_form_is_json(const struct pfd_problems_form *form)
{
    return form->is_json;
}

struct pfd_problems *pfd_problems_new(void)
{
    return calloc(1, sizeof(struct pfd_problems));
}

void pfd_problems_free(struct pfd_problems *report)
{
    if (!report)
        return;
    free(report->problems);
    pfd_dictionary_free(&report->keys);
    pfd_text_free(&report->texts);
    pfd_text_free(&report->key);
    free(report);
}

/* ---- problems ---- */

static struct pfd_problem_text keep(struct pfd_problems *report,
                                    const char *text, size_t n)
{
    struct pfd_problem_text ret = { report->texts.n,
                                    n < MESSAGE_MAX ? n : (size_t)MESSAGE_MAX };
    pfd_text_add(&report->texts, text, ret.n);
    return ret;
}

/* The problem of this key; a new one has no entries yet. NULL: there is no room,
 * or no memory. */
static struct pfd_problem *find(struct pfd_problems *report)
{
    const struct pfd_text *key = &report->key;
    uint32_t i = pfd_dictionary_find(&report->keys, key->data, key->n);
    if (i != UINT32_MAX)
        return &report->problems[i];
    if (report->n == PROBLEMS_MAX)
        return NULL;
    if (report->n == report->room) {
        size_t room = report->room ? 2 * report->room : 16;
        void *more = realloc(report->problems, room * sizeof *report->problems);
        if (!more) {
            report->failed = true;
            return NULL;
        }
        report->problems = more;
        report->room = room;
    }
    pfd_dictionary_add(&report->keys, key->data, key->n);
    if (report->keys.failed)
        return NULL;
    report->problems[report->n] = (struct pfd_problem){ 0 };
    return &report->problems[report->n++];
}

static void add(struct pfd_problems *report, const struct pfd_problem *like,
                const char *file, size_t n_file, const char *message,
                size_t n_message)
{
    struct pfd_problem *p = find(report);
    if (!p) {
        report->n_more++;
        report->n_more_fails += like->fails;
        return;
    }
    if (!p->n) {
        *p = *like;
        p->file = keep(report, file, n_file);
        p->message = keep(report, message, n_message);
        p->is_cut = p->message.n < n_message;
    }
    p->n++;
}

static const struct pfd_row_origin *find_origin(const struct pfd_row *row,
                                                const char *name,
                                                enum pfd_origin_type type)
{
    const struct pfd_row_origin *all = pfd_row_origins(row);
    for (size_t i = 0; i < row->n_origins; i++) {
        if (all[i].type == (uint32_t)type && !strcmp(all[i].name, name))
            return &all[i];
    }
    return NULL;
}

/* Entries of one place are alike; without a place those of one string, and
 * without a string those of one message. */
static void set_key(struct pfd_problems *report,
                    const struct pfd_problem *problem, const char *file,
                    size_t n_file, uint64_t id, const char *message, size_t n)
{
    struct pfd_text *key = &report->key;
    key->n = 0;
    pfd_text_printf(key, "%d %d %d ", problem->severity, problem->fails,
                    problem->is_finding);
    if (n_file) {
        pfd_text_printf(key, "%llu ", (unsigned long long)problem->line);
        pfd_text_add(key, file, n_file);
    } else if (id) {
        pfd_text_printf(key, "id %llx", (unsigned long long)id);
    } else {
        pfd_text_add(key, message, n);
    }
    report->failed |= key->failed;
}

void pfd_problems_add(struct pfd_problems *report, const struct pfd_row *row,
                      bool fails)
{
    if (row->string == PFD_ROW_LINE)
        return;
    report->n_entries++;
    if (!fails && row->severity > PFD_SEVERITY_WARNING)
        return;
    const struct pfd_row_origin *file =
        find_origin(row, "file", PFD_ORIGIN_TEXT);
    const struct pfd_row_origin *line =
        find_origin(row, "line", PFD_ORIGIN_NUMBER);
    const struct pfd_problem like = {
        .severity = (enum pfd_severity)row->severity,
        .fails = fails,
        .line = file && line ? line->value[0] : 0,
    };
    const char *name = file ? pfd_row_bytes(row, file->text) : "";
    size_t n_name = file ? file->text.n : 0;
    const char *message = pfd_row_bytes(row, row->message);
    size_t n = row->message.n;
    char unknown[64];
    if (row->string == PFD_ROW_NO_STRING) {
        n = (size_t)snprintf(unknown, sizeof unknown, "unknown id 0x%012llx",
                             (unsigned long long)row->id);
        message = unknown;
    }
    n -= n > 0 && message[n - 1] == '\n';
    set_key(report, &like, name, n_name, row->id, message, n);
    add(report, &like, name, n_name, message, n);
}

void pfd_problems_add_finding(struct pfd_problems *report, const char *source,
                              const char *text, bool fails)
{
    char message[1024];
    const struct pfd_problem like = {
        .severity = fails ? PFD_SEVERITY_ERROR : PFD_SEVERITY_WARNING,
        .fails = fails,
        .is_finding = true,
    };
    int n = snprintf(message, sizeof message, "%s%s%s", source ? source : "",
                     source ? ": " : "", text);
    size_t length = n < (int)sizeof message ? (size_t)n : sizeof message - 1;
    set_key(report, &like, "", 0, 0, message, length);
    add(report, &like, "", 0, message, length);
}

/* ---- the whole ---- */

enum pfd_status pfd_problems_write(const struct pfd_problems *report,
                                   const struct pfd_problems_form *form,
                                   struct pfd_text *out)
{
    form->put(out, report);
    bool failed = report->failed || report->keys.failed ||
                  report->texts.failed || report->key.failed;
    return failed || out->failed ? PFD_ERR_NOMEM : PFD_OK;
}

/* Markdown and HTML in it. */
static const char *escape_cell(char c)
{
    switch (c) {
    case '\n':
        return " ";
    case '<':
        return "&lt;";
    case '&':
        return "&amp;";
    case '|':
        return "&#124;";
    case '`':
        return "&#96;";
    case '\\':
        return "&#92;";
    case '*':
        return "&#42;";
    case '_':
        return "&#95;";
    case '[':
        return "&#91;";
    case '!':
        return "&#33;";
    case '~':
        return "&#126;";
    case ':':
        return "&#58;";
    case '@':
        return "&#64;";
    case '#':
        return "&#35;";
    case '$':
        return "&#36;";
    default:
        return NULL;
    }
}

static void put_row(struct pfd_text *out, const struct pfd_problems *report,
                    const struct pfd_problem *p)
{
    struct pfd_text cell = { 0 };
    pfd_text_printf(out, "| %s | ", pfd_problem_title(p));
    pfd_problem_put_file(&cell, report, p);
    if (p->line)
        pfd_text_printf(&cell, ":%llu", (unsigned long long)p->line);
    pfd_problems_put_escaped(out, cell.data, cell.n, escape_cell);
    pfd_text_puts(out, " | ");
    cell.n = 0;
    pfd_problem_put_message(&cell, report, p);
    pfd_problems_put_escaped(out, cell.data, cell.n, escape_cell);
    pfd_text_puts(out, " |\n");
    out->failed |= cell.failed;
    pfd_text_free(&cell);
}

enum pfd_status pfd_problems_write_summary(const struct pfd_problems *report,
                                           struct pfd_text *out)
{
    size_t n = report->n < ROWS_MAX ? report->n : (size_t)ROWS_MAX;
    if (!report->n)
        return PFD_OK;
    pfd_text_puts(out, "| what | where | message |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < n; i++)
        put_row(out, report, &report->problems[i]);
    if (report->n > n || report->n_more) {
        pfd_text_printf(out, "\n%llu more places, and %llu more messages\n",
                        (unsigned long long)(report->n - n),
                        (unsigned long long)report->n_more);
    }
    return out->failed || report->failed ? PFD_ERR_NOMEM : PFD_OK;
}
