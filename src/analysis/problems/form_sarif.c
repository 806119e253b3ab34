/* SPDX-License-Identifier: MIT */
/* SARIF 2.1.0 (OASIS): a result for each problem. */
#include <string.h>

#include "analysis/problems/problems_form.h"
#include "core/base/escape.h"

static const struct {
    const char *id;
    const char *text;
} rules[] = {
    { "gpu-error", "A message of level error, or of a check in the GPU" },
    { "gpu-warning", "A message of level warning" },
    { "fail-on", "A message that the command line lets the run fail for" },
    { "gpu-loss", "Messages were lost" },
    { "gpu-finding", "Something is wrong with the data of messages" },
};

static void put_string(struct pfd_text *out, const char *text, size_t n)
{
    char *at = pfd_text_reserve(out, 6 * n + 2);
    if (!at)
        return;
    char *end = at;
    *end++ = '"';
    end = pfd_escape_json(end, text, n);
    *end++ = '"';
    out->n += (size_t)(end - at);
}

/* A relative or absolute URI reference (RFC 3986) of a file's name. */
static void put_uri(struct pfd_text *out, const char *name, size_t n)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                                "uvwxyz0123456789-._~/";
    pfd_text_puts(out, n && name[0] == '/' ? "\"file://" : "\"");
    for (size_t i = 0; i < n; i++) {
        if (name[i] && strchr(plain, name[i])) {
            pfd_text_add(out, &name[i], 1);
        } else {
            pfd_text_printf(out, "%%%02X", (unsigned char)name[i]);
        }
    }
    pfd_text_puts(out, "\"");
}

static void put_location(struct pfd_text *out,
                         const struct pfd_problems *report,
                         const struct pfd_problem *p)
{
    pfd_text_puts(out, ",\"locations\":[{\"physicalLocation\":"
                       "{\"artifactLocation\":{\"uri\":");
    put_uri(out, pfd_problems_bytes(report, p->file), p->file.n);
    pfd_text_puts(out, "}");
    if (p->line) {
        pfd_text_printf(out, ",\"region\":{\"startLine\":%llu}",
                        (unsigned long long)p->line);
    }
    pfd_text_puts(out, "}}]");
}

static void put_result(struct pfd_text *out, const struct pfd_problems *report,
                       const struct pfd_problem *p)
{
    struct pfd_text message = { 0 };
    bool is_error = p->fails || p->severity == PFD_SEVERITY_ERROR;
    pfd_text_printf(out, "{\"ruleId\":\"%s\",\"level\":\"%s\",",
                    pfd_problem_rule(p), is_error ? "error" : "warning");
    pfd_problem_put_message(&message, report, p);
    pfd_text_puts(out, "\"message\":{\"text\":");
    put_string(out, message.data, message.n);
    pfd_text_printf(out, "},\"occurrenceCount\":%llu",
                    (unsigned long long)p->n);
    if (p->file.n)
        put_location(out, report, p);
    pfd_text_puts(out, "}");
    out->failed |= message.failed;
    pfd_text_free(&message);
}

static void put_more(struct pfd_text *out, const struct pfd_problems *report)
{
    pfd_text_printf(out,
                    "%s{\"ruleId\":\"%s\",\"level\":\"%s\",\"message\":"
                    "{\"text\":\"%llu more messages\"}}",
                    report->n ? ",\n" : "",
                    report->n_more_fails ? "fail-on" : "gpu-warning",
                    report->n_more_fails ? "error" : "warning",
                    (unsigned long long)report->n_more);
}

static void put(struct pfd_text *out, const struct pfd_problems *report)
{
    pfd_text_puts(out, "{\"$schema\":\"https://json.schemastore.org/"
                       "sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{"
                       "\"tool\":{\"driver\":{\"name\":\"printfdecode\","
                       "\"version\":");
    put_string(out, pfd_version(), strlen(pfd_version()));
    pfd_text_puts(out, ",\"rules\":[");
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        pfd_text_printf(out,
                        "%s{\"id\":\"%s\",\"shortDescription\":"
                        "{\"text\":\"%s\"}}",
                        i ? "," : "", rules[i].id, rules[i].text);
    }
    pfd_text_puts(out, "]}},\"results\":[\n");
    for (size_t i = 0; i < report->n; i++) {
        if (i)
            pfd_text_puts(out, ",\n");
        put_result(out, report, &report->problems[i]);
    }
    if (report->n_more)
        put_more(out, report);
    pfd_text_puts(out, "\n]}]}\n");
}

const struct pfd_problems_form pfd_problems_form_sarif = {
    .name = "sarif",
    .is_json = true,
    .put = put,
};
