/* SPDX-License-Identifier: MIT */
/*
 * JUnit's XML, as Ant writes and Jenkins reads it: a test case for each problem,
 * which has failed if it is an error; without any, one that has passed.
 */
#include <time.h>

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

static void put_message(struct pfd_text *out, const struct pfd_problems *report,
                        const struct pfd_problem *p)
{
    struct pfd_text message = { 0 };
    pfd_problem_put_message(&message, report, p);
    put_text(out, message.data, message.n);
    out->failed |= message.failed;
    pfd_text_free(&message);
}

static void put_case(struct pfd_text *out, const struct pfd_problems *report,
                     const struct pfd_problem *p)
{
    pfd_text_printf(out, "    <testcase classname=\"gpu\" name=\"%s",
                    pfd_problem_title(p));
    put_place(out, report, p);
    if (!has_failed(p)) {
        pfd_text_puts(out, "\" time=\"0\"/>\n");
        return;
    }
    pfd_text_printf(out, "\" time=\"0\">\n      <failure type=\"%s\">",
                    pfd_problem_rule(p));
    put_message(out, report, p);
    pfd_text_puts(out, "</failure>\n    </testcase>\n");
}

static void put_more(struct pfd_text *out, const struct pfd_problems *report)
{
    if (!report->n_more)
        return;
    pfd_text_puts(out, "    <testcase classname=\"gpu\" name=\"more places\" "
                       "time=\"0\"");
    pfd_text_printf(out,
                    report->n_more_fails
                        ? "><failure type=\"fail-on\">%llu more messages"
                          "</failure></testcase>\n"
                        : "/>\n",
                    (unsigned long long)report->n_more);
}

/* Warnings fail no case: their text is the suite's. */
static void put_warnings(struct pfd_text *out,
                         const struct pfd_problems *report)
{
    pfd_text_puts(out, "    <system-out>");
    for (size_t i = 0; i < report->n; i++) {
        if (has_failed(&report->problems[i]))
            continue;
        put_message(out, report, &report->problems[i]);
        pfd_text_puts(out, "&#10;");
    }
    pfd_text_puts(out, "</system-out>\n    <system-err></system-err>\n");
}

static void put_head(struct pfd_text *out, size_t n, size_t n_failed)
{
    char when[32] = "1970-01-01T00:00:00";
    time_t now = time(NULL);
    struct tm tm;
    if (gmtime_r(&now, &tm))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &tm);
    pfd_text_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    pfd_text_printf(out,
                    "<testsuites>\n  <testsuite name=\"printfdecode\" "
                    "package=\"gpu\" id=\"0\" hostname=\"localhost\" "
                    "timestamp=\"%s\" tests=\"%zu\" failures=\"%zu\" "
                    "errors=\"0\" time=\"0\">\n    <properties/>\n",
                    when, n, n_failed);
}

static void put(struct pfd_text *out, const struct pfd_problems *report)
{
    size_t n_failed = 0;
    for (size_t i = 0; i < report->n; i++)
        n_failed += has_failed(&report->problems[i]);
    n_failed += report->n_more_fails > 0;
    put_head(out, report->n + !report->n + (report->n_more > 0), n_failed);
    for (size_t i = 0; i < report->n; i++)
        put_case(out, report, &report->problems[i]);
    if (!report->n) {
        pfd_text_puts(out, "    <testcase classname=\"gpu\" "
                           "name=\"GPU messages\" time=\"0\"/>\n");
    }
    put_more(out, report);
    put_warnings(out, report);
    pfd_text_puts(out, "  </testsuite>\n</testsuites>\n");
}

const struct pfd_problems_form pfd_problems_form_junit = {
    .name = "junit",
    .put = put,
};
