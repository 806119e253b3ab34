/* SPDX-License-Identifier: MIT */
/* TAP 14: a test point for each problem; without any, one that is ok. */
#include "analysis/problems/problems_form.h"

/* A description is one line; # begins a directive, \ escapes. */
static const char *escape_tap(char c)
{
    return c == '#' ? "\\#" : c == '\\' ? "\\\\" : c == '\n' ? " " : NULL;
}

static void put_point(struct pfd_text *out, const struct pfd_problems *report,
                      size_t i)
{
    const struct pfd_problem *p = &report->problems[i];
    struct pfd_text text = { 0 };
    bool is_error = p->fails || p->severity == PFD_SEVERITY_ERROR;
    pfd_text_printf(out, "%s %zu - ", is_error ? "not ok" : "ok", i + 1);
    pfd_problem_put_file(&text, report, p);
    if (p->line)
        pfd_text_printf(&text, ":%llu", (unsigned long long)p->line);
    if (text.n)
        pfd_text_puts(&text, ": ");
    pfd_text_printf(&text, "%s: ", pfd_problem_title(p));
    pfd_problem_put_message(&text, report, p);
    pfd_problems_put_escaped(out, text.data, text.n, escape_tap);
    pfd_text_puts(out, "\n");
    out->failed |= text.failed;
    pfd_text_free(&text);
}

static void put(struct pfd_text *out, const struct pfd_problems *report)
{
    size_t n = report->n + !report->n + (report->n_more > 0);
    pfd_text_printf(out, "TAP version 14\n1..%zu\n", n);
    for (size_t i = 0; i < report->n; i++)
        put_point(out, report, i);
    if (!report->n)
        pfd_text_puts(out, "ok 1 - GPU messages\n");
    if (report->n_more) {
        pfd_text_printf(out, "%s %zu - %llu more messages\n",
                        report->n_more_fails ? "not ok" : "ok", n,
                        (unsigned long long)report->n_more);
    }
}

const struct pfd_problems_form pfd_problems_form_tap = {
    .name = "tap",
    .put = put,
};
