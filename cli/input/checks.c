/* SPDX-License-Identifier: MIT */
#include "checks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/problems/problems.h"
#include "core/base/error.h"
#include "core/output/severity.h"
#include "core/output/value_rows.h"
#include "show/messages.h"
#include "show/output.h"

enum {
    SHOWN_MAX = 400,         /* bytes of a message in an error */
    SUMMARY_MAX = 512 << 10, /* bytes of a table; GitHub takes 1 MiB a step */
};

static bool make_filter(const struct pfd_filter_spec *spec,
                        struct pfd_filter **ret)
{
    struct pfd_error err;
    if (pfd_filter_new(spec, ret, &err) == PFD_OK)
        return true;
    message_error("%s", err.text);
    return false;
}

static bool open_filters(struct checks *c)
{
    const struct check_options *o = &c->o->checks;
    const struct pfd_filter_spec patterns = {
        .patterns = o->matches.all,
        .n_patterns = o->matches.n,
        .ignore_case = c->o->filter.ignore_case,
        .jit = true,
    };
    const struct pfd_filter_spec where = { .where = o->where };
    return (!o->matches.n || make_filter(&patterns, &c->watch[0])) &&
           (!o->where || make_filter(&where, &c->watch[1]));
}

bool checks_open(struct checks *ret, const struct options *o)
{
    *ret = (struct checks){ .o = o };
    if (o->report) {
        ret->report = pfd_problems_new();
        if (!ret->report) {
            message_error("out of memory");
            return false;
        }
    } else if (o->checks.report_file) {
        message_error("--report is for -o github, junit, sarif and tap");
        return false;
    }
    return open_filters(ret);
}

bool checks_want_rows(const struct checks *c)
{
    return c->watch[0] || c->watch[1] || c->report ||
           (c->o && c->o->checks.errors);
}

void checks_set_next(struct checks *c,
                     bool (*next)(void *user, const void *bytes, size_t n),
                     void *user)
{
    c->next = next;
    c->next_user = user;
}

void checks_set_source(struct checks *c, const char *name)
{
    c->source = name;
}

/* ---- rows ---- */

/* The option for which the entry lets the command fail; NULL: it does not. */
static const char *reason_of(const struct checks *c, const struct pfd_row *row)
{
    if (row->string == PFD_ROW_LINE)
        return NULL;
    if (row->watched & 1)
        return "--fail-on";
    if (row->watched & 2)
        return "--fail-where";
    return c->o->checks.errors && row->severity == PFD_SEVERITY_ERROR
               ? "--fail-on-errors"
               : NULL;
}

static const struct pfd_row_origin *find_origin(const struct pfd_row *row,
                                                const char *name)
{
    const struct pfd_row_origin *all = pfd_row_origins(row);
    for (size_t i = 0; i < row->n_origins; i++) {
        if (!strcmp(all[i].name, name))
            return &all[i];
    }
    return NULL;
}

/* "SOURCE: dword N: FILE:LINE: ", as far as it is known. */
static void put_place(char *ret, size_t n, const struct checks *c,
                      const struct pfd_row *row)
{
    const struct pfd_row_origin *file = find_origin(row, "file");
    const struct pfd_row_origin *line = find_origin(row, "line");
    int k =
        snprintf(ret, n, "%.200s%sdword %llu: ", c->source ? c->source : "",
                 c->source ? ": " : "", (unsigned long long)row->offset / 4);
    if (file && file->type == PFD_ORIGIN_TEXT && (size_t)k < n) {
        k += snprintf(ret + k, n - (size_t)k,
                      "%.*s:", file->text.n < 200 ? (int)file->text.n : 200,
                      pfd_row_bytes(row, file->text));
        if (line && line->type == PFD_ORIGIN_NUMBER && (size_t)k < n) {
            k += snprintf(ret + k, n - (size_t)k,
                          "%llu:", (unsigned long long)line->value[0]);
        }
        if ((size_t)k < n)
            snprintf(ret + k, n - (size_t)k, " ");
    }
}

static void message_first(const struct checks *c, const struct pfd_row *row,
                          const char *why)
{
    char place[512];
    const char *message = pfd_row_bytes(row, row->message);
    size_t n = row->message.n;
    n -= n > 0 && message[n - 1] == '\n';
    put_place(place, sizeof place, c, row);
    message_error("%s%s: %.*s%s", place, why,
                  n < SHOWN_MAX ? (int)n : SHOWN_MAX, message,
                  n < SHOWN_MAX ? "" : "...");
}

static void judge(struct checks *c, const struct pfd_row *row)
{
    const char *why = reason_of(c, row);
    if (why && !c->n_failed++)
        message_first(c, row, why);
    if (c->report)
        pfd_problems_add(c->report, row, why);
}

static bool pass_on(struct checks *c, const void *bytes, size_t n)
{
    const struct pfd_row *row;
    size_t at = 0;
    if (c->next)
        return c->next(c->next_user, bytes, n);
    while ((row = pfd_row_next(bytes, n, &at))) {
        if (!output_gather(pfd_row_bytes(row, row->line), row->line.n))
            return false;
    }
    return output_flush();
}

/* All entries are judged, also where nothing reads their lines any more. */
bool checks_write(void *user, const void *bytes, size_t n)
{
    struct checks *c = user;
    const struct pfd_row *row;
    size_t at = 0;
    while ((row = pfd_row_next(bytes, n, &at)))
        judge(c, row);
    if (!c->is_closed)
        c->is_closed = !pass_on(c, bytes, n);
    return true;
}

const struct pfd_consumer *checks_consumer(struct checks *c)
{
    c->consumer = (struct pfd_consumer){
        .sink = &pfd_sink_rows,
        .pieces = true,
        .watches = true,
        .watch = { c->watch[0], c->watch[1] },
        .take = checks_write,
        .user = c,
    };
    return &c->consumer;
}

bool checks_watch(const struct checks *c, const struct pfd_strings *strings,
                  struct pfd_watch *ret)
{
    struct pfd_error err;
    *ret = (struct pfd_watch){ 0 };
    for (size_t i = 0; i < PFD_WATCHES; i++) {
        if (c->watch[i] && pfd_filter_run_new(c->watch[i], strings,
                                              &ret->runs[i], &err) != PFD_OK) {
            message_error("%s", err.text);
            checks_watch_free(ret);
            return false;
        }
    }
    return true;
}

void checks_watch_free(struct pfd_watch *watch)
{
    for (size_t i = 0; i < PFD_WATCHES; i++) {
        pfd_filter_run_free(watch->runs[i]);
        watch->runs[i] = NULL;
    }
}

/* ---- losses ---- */

static void take_loss(struct checks *c, const char *source, const char *text,
                      bool is_lost)
{
    bool fails = is_lost && c->o->checks.loss;
    if (fails && !c->n_failed++) {
        message_error("%s%s--fail-on-loss: %s", source ? source : "",
                      source ? ": " : "", text);
    }
    if (c->report)
        pfd_problems_add_finding(c->report, source, text, fails);
}

void checks_finding(struct checks *c, const struct pfd_finding *finding)
{
    char text[900];
    if (!c || !c->o || pfd_finding_is_note(finding->kind))
        return;
    snprintf(text, sizeof text, "%s: %s", pfd_finding_name(finding->kind),
             finding->text);
    take_loss(c, finding->source, text, pfd_finding_is_loss(finding->kind));
}

void checks_gap(struct checks *c, const char *source, uint64_t missed,
                const char *reason)
{
    char text[300];
    if (!c || !c->o)
        return;
    snprintf(text, sizeof text, "gap: %llu records missed: %.200s",
             (unsigned long long)missed, reason);
    take_loss(c, source, text, true);
}

/* ---- the end ---- */

static bool append_file(const char *name, const char *mode,
                        const struct pfd_text *text)
{
    FILE *file = fopen(name, mode);
    bool ok = file && fwrite(text->data, 1, text->n, file) == text->n;
    ok = file && !fclose(file) && ok;
    if (!ok)
        message_error("%s: %s", name, strerror(errno));
    return ok;
}

/* GitHub shows the text of that file below the step. */
static bool write_summary(const struct checks *c)
{
    const char *name = getenv("GITHUB_STEP_SUMMARY");
    struct pfd_text text = { 0 };
    if (!name || !*name || strcmp(c->o->output, "github") != 0)
        return true;
    bool ok = pfd_problems_write_summary(c->report, &text) == PFD_OK;
    if (ok && text.n && text.n <= SUMMARY_MAX)
        ok = append_file(name, "ae", &text);
    pfd_text_free(&text);
    return ok;
}

static bool write_report(const struct checks *c)
{
    struct pfd_text text = { 0 };
    const char *file = c->o->checks.report_file;
    bool ok = pfd_problems_write(c->report, c->o->report, &text) == PFD_OK;
    if (!ok) {
        message_error("out of memory");
    } else if (file) {
        ok = append_file(file, "we", &text);
    } else {
        output_command(text.data, text.n);
    }
    pfd_text_free(&text);
    return write_summary(c) && ok;
}

/* Has the condition of --fail-where a name that no entry has? */
static bool is_wrong(const struct checks *c, const struct pfd_strings *strings)
{
    struct pfd_error err;
    if (!c->watch[1] || pfd_filter_check(c->watch[1], strings, &err) == PFD_OK)
        return false;
    message_error("%s", err.text);
    return true;
}

int checks_close(struct checks *c, const struct pfd_strings *strings,
                 int status)
{
    bool ok = !is_wrong(c, strings);
    if (c->report) {
        ok = write_report(c) && ok;
        pfd_problems_free(c->report);
    }
    if (c->n_failed > 1) {
        message_hint("%llu more messages and losses let it fail",
                     (unsigned long long)(c->n_failed - 1));
    }
    for (size_t i = 0; i < PFD_WATCHES; i++)
        pfd_filter_free(c->watch[i]);
    bool has_failed = c->n_failed > 0;
    *c = (struct checks){ 0 };
    if (!ok || status == EXIT_ERROR)
        return EXIT_ERROR;
    return has_failed ? EXIT_FAILED : status;
}
