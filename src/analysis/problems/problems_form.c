/* SPDX-License-Identifier: MIT */
#include "analysis/problems/problems_form.h"

#include <stdlib.h>

#include "core/base/escape.h"
#include "core/base/job_log.h"

const char *pfd_problem_title(const struct pfd_problem *problem)
{
    if (problem->is_finding)
        return problem->fails ? "GPU messages lost" : "GPU messages in doubt";
    if (problem->severity == PFD_SEVERITY_ERROR)
        return "GPU error";
    return problem->fails ? "GPU message that fails the run" : "GPU warning";
}

const char *pfd_problem_rule(const struct pfd_problem *problem)
{
    if (problem->is_finding)
        return problem->fails ? "gpu-loss" : "gpu-finding";
    if (problem->severity == PFD_SEVERITY_ERROR)
        return "gpu-error";
    return problem->fails ? "fail-on" : "gpu-warning";
}

void pfd_problems_put_escaped(struct pfd_text *out, const char *text, size_t n,
                              const char *(*escape)(char c))
{
    for (size_t i = 0; i < n; i++) {
        const char *instead = escape(text[i]);
        if (instead) {
            pfd_text_puts(out, instead);
        } else {
            pfd_text_add(out, &text[i], 1);
        }
    }
}

/* Bytes that are not UTF-8 become \xNN: documents have to be UTF-8. */
static void put_utf8(struct pfd_text *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t k = pfd_utf8_length(text + i, n - i);
        char *at = pfd_text_reserve(out, 4);
        if (!at)
            return;
        if (k) {
            pfd_text_add(out, text + i, k);
        } else {
            out->n += (size_t)(pfd_escape_byte(at, text[i]) - at);
        }
        i += k ? k : 1;
    }
}

/* Without control characters, commands of build servers, and other bytes than
 * UTF-8. */
static void put_safe(struct pfd_text *out, const char *text, size_t n)
{
    struct pfd_job_log log = { 0 };
    char *plain = malloc(4 * n + 1);
    char *guarded = malloc(PFD_JOB_LOG_GROWTH * 4 * n + 1);
    if (plain && guarded) {
        char *end = pfd_escape_terminal(plain, text, n);
        end = pfd_job_log_guard(&log, guarded, plain, (size_t)(end - plain));
        put_utf8(out, guarded, (size_t)(end - guarded));
    } else {
        out->failed = true;
    }
    free(plain);
    free(guarded);
}

void pfd_problem_put_file(struct pfd_text *out,
                          const struct pfd_problems *report,
                          const struct pfd_problem *problem)
{
    put_safe(out, pfd_problems_bytes(report, problem->file), problem->file.n);
}

void pfd_problem_put_message(struct pfd_text *out,
                             const struct pfd_problems *report,
                             const struct pfd_problem *problem)
{
    put_safe(out, pfd_problems_bytes(report, problem->message),
             problem->message.n);
    if (problem->is_cut)
        pfd_text_puts(out, "...");
    if (problem->n > 1) {
        pfd_text_printf(out, " (%llu times)", (unsigned long long)problem->n);
    }
}
