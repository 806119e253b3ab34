/* SPDX-License-Identifier: MIT */
/*
 * Workflow commands of GitHub's runner: an annotation for each problem. It shows
 * ten of a kind for each step; where there are more, the last one says how
 * many.
 */
#include "analysis/problems/problems_form.h"

enum {
    SHOWN_MAX = 10 /* GitHub's limit of annotations of one kind in a step */
};

static const char *escape_message(char c)
{
    return c == '%' ? "%25" : c == '\r' ? "%0D" : c == '\n' ? "%0A" : NULL;
}

static const char *escape_property(char c)
{
    return c == ':' ? "%3A" : c == ',' ? "%2C" : escape_message(c);
}

static const char *command_of(const struct pfd_problem *p)
{
    bool is_error = p->fails || p->severity == PFD_SEVERITY_ERROR;
    return is_error ? "error" : "warning";
}

static void put_problem(struct pfd_text *out, const struct pfd_problems *report,
                        const struct pfd_problem *p)
{
    struct pfd_text text = { 0 };
    pfd_text_printf(out, "::%s ", command_of(p));
    if (p->file.n) {
        pfd_text_puts(out, "file=");
        pfd_problem_put_file(&text, report, p);
        pfd_problems_put_escaped(out, text.data, text.n, escape_property);
        text.n = 0;
        if (p->line)
            pfd_text_printf(out, ",line=%llu", (unsigned long long)p->line);
        pfd_text_puts(out, ",");
    }
    pfd_text_printf(out, "title=%s::", pfd_problem_title(p));
    pfd_problem_put_message(&text, report, p);
    pfd_problems_put_escaped(out, text.data, text.n, escape_message);
    pfd_text_puts(out, "\n");
    out->failed |= text.failed;
    pfd_text_free(&text);
}

static bool is_kind(const struct pfd_problem *p, bool errors)
{
    return (p->fails || p->severity == PFD_SEVERITY_ERROR) == errors;
}

static void put_kind(struct pfd_text *out, const struct pfd_problems *report,
                     bool errors)
{
    size_t n = 0;
    size_t n_shown = 0;
    uint64_t n_more =
        errors ? report->n_more_fails : report->n_more - report->n_more_fails;
    for (size_t i = 0; i < report->n; i++)
        n += is_kind(&report->problems[i], errors);
    size_t most = n > SHOWN_MAX || n_more ? SHOWN_MAX - 1 : SHOWN_MAX;
    for (size_t i = 0; i < report->n && n_shown < most; i++) {
        if (!is_kind(&report->problems[i], errors))
            continue;
        put_problem(out, report, &report->problems[i]);
        n_shown++;
    }
    if (n > n_shown || n_more) {
        pfd_text_printf(
            out,
            "::%s title=printfdecode::%llu more places with %ss, "
            "and %llu more messages: see the log\n",
            errors ? "error" : "warning", (unsigned long long)(n - n_shown),
            errors ? "error" : "warning", (unsigned long long)n_more);
    }
}

static void put(struct pfd_text *out, const struct pfd_problems *report)
{
    put_kind(out, report, true);
    put_kind(out, report, false);
}

const struct pfd_problems_form pfd_problems_form_github = {
    .name = "github",
    .has_lines = true,
    .put = put,
};
