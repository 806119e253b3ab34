/* SPDX-License-Identifier: MIT */
/*
 * JUnit's XML: a test case for each problem, which has failed if it is an error;
 * without any, one that has passed.
 */
#include "analysis/problems/problems_form.h"

static bool has_failed(const struct pfd_problem *p)
{
    return p->fails || p->severity == PFD_SEVERITY_ERROR;
}

/* XML 1.0 has no control characters but tab, newline and CR. */
static const char *escape_xml(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\n':
        return "&#10;";
    case '\t':
        return "&#9;";
    default:
        return NULL;
    }
}

/* U+FFFE and U+FFFF are no characters of XML either. */
static void put_text(struct pfd_text *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        bool is_none = n - i >= 3 && text[i] == '\xef' &&
                       text[i + 1] == '\xbf' && (text[i + 2] & 0xfe) == 0xbe;
        if (is_none) {
            pfd_text_puts(out, "\xef\xbf\xbd");
            i += 3;
        } else {
            pfd_problems_put_escaped(out, text + i, 1, escape_xml);
            i++;
        }
    }
}

static void put_place(struct pfd_text *out, const struct pfd_problems *report,
                      const struct pfd_problem *p)
{
    struct pfd_text place = { 0 };
    pfd_problem_put_file(&place, report, p);
    if (p->line)
        pfd_text_printf(&place, ":%llu", (unsigned long long)p->line);
    if (place.n)
        pfd_text_puts(out, " ");
    put_text(out, place.data, place.n);
    out->failed |= place.failed;
    pfd_text_free(&place);
}

static void put_case(struct pfd_text *out, const struct pfd_problems *report,
                     const struct pfd_problem *p)
{
    struct pfd_text message = { 0 };
    const char *element = has_failed(p) ? "failure" : "system-out";
    pfd_text_printf(out, "    <testcase classname=\"gpu\" name=\"%s",
                    pfd_problem_title(p));
    put_place(out, report, p);
    pfd_text_printf(out, "\" time=\"0\">\n      <%s", element);
    if (has_failed(p))
        pfd_text_printf(out, " type=\"%s\"", pfd_problem_rule(p));
    pfd_text_puts(out, ">");
    pfd_problem_put_message(&message, report, p);
    put_text(out, message.data, message.n);
    pfd_text_printf(out, "</%s>\n    </testcase>\n", element);
    out->failed |= message.failed;
    pfd_text_free(&message);
}

static void put(struct pfd_text *out, const struct pfd_problems *report)
{
    size_t n_failed = 0;
    for (size_t i = 0; i < report->n; i++)
        n_failed += has_failed(&report->problems[i]);
    size_t n = report->n + !report->n + (report->n_more > 0);
    n_failed += report->n_more_fails > 0;
    pfd_text_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    pfd_text_printf(out,
                    "<testsuites>\n  <testsuite name=\"printfdecode\" "
                    "tests=\"%zu\" failures=\"%zu\" errors=\"0\" time=\"0\">\n",
                    n, n_failed);
    for (size_t i = 0; i < report->n; i++)
        put_case(out, report, &report->problems[i]);
    if (!report->n) {
        pfd_text_puts(out, "    <testcase classname=\"gpu\" "
                           "name=\"GPU messages\" time=\"0\"/>\n");
    }
    if (report->n_more) {
        const char *element = report->n_more_fails ? "failure" : "system-out";
        pfd_text_printf(out,
                        "    <testcase classname=\"gpu\" name=\"more places\" "
                        "time=\"0\">\n      <%s>%llu more messages</%s>\n"
                        "    </testcase>\n",
                        element, (unsigned long long)report->n_more, element);
    }
    pfd_text_puts(out, "  </testsuite>\n</testsuites>\n");
}

const struct pfd_problems_form pfd_problems_form_junit = {
    .name = "junit",
    .put = put,
};
