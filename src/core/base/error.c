/* SPDX-License-Identifier: MIT */
#include "core/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"

static const struct {
    const char *name;
    bool is_note;
} kinds[] = {
#define PFD_X(name, is_note) { #name, is_note },
    PFD_FINDING_KINDS(PFD_X)
#undef PFD_X
};

const char *pfd_finding_name(enum pfd_finding_kind kind)
{
    return (unsigned)kind < PFD_N_FINDING_KINDS ? kinds[kind].name : "?";
}

bool pfd_finding_is_note(enum pfd_finding_kind kind)
{
    return (unsigned)kind < PFD_N_FINDING_KINDS && kinds[kind].is_note;
}

bool pfd_finding_is_loss(enum pfd_finding_kind kind)
{
    static const enum pfd_finding_kind losses[] = {
        PFD_FINDING_truncated_entry,
        PFD_FINDING_size_past_end,
        PFD_FINDING_bad_size,
        PFD_FINDING_unwritten,
        PFD_FINDING_torn_header,
        PFD_FINDING_overflow,
        PFD_FINDING_shrunk,
        PFD_FINDING_bad_frame,
        PFD_FINDING_gap,
        PFD_FINDING_incomplete,
        PFD_FINDING_missing_data,
        PFD_FINDING_unreadable,
        PFD_FINDING_nearly_full,
        PFD_FINDING_bad_packet,
        PFD_FINDING_payload_short,
        PFD_FINDING_clipped_string,
    };
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (losses[i] == kind)
            return true;
    }
    return false;
}

enum pfd_status pfd_fail(struct pfd_error *err, enum pfd_status status,
                         uint64_t offset, const char *text, ...)
{
    if (err) {
        va_list ap;
        err->code = status;
        err->offset = offset;
        va_start(ap, text);
        vsnprintf(err->text, sizeof err->text, text, ap);
        va_end(ap);
    }
    return status;
}

void pfd_error_context(struct pfd_error *err, const char *text, ...)
{
    char context[sizeof err->text];
    char rest[sizeof err->text];
    va_list ap;

    if (!err)
        return;
    va_start(ap, text);
    vsnprintf(context, sizeof context, text, ap);
    va_end(ap);
    memcpy(rest, err->text, sizeof rest);
    rest[sizeof rest - 1] = '\0';
    size_t n = strlen(context);
    if (n > sizeof err->text - 3)
        n = sizeof err->text - 3;
    memcpy(err->text, context, n);
    memcpy(err->text + n, ": ", 2);
    size_t left = sizeof err->text - n - 3;
    size_t n_rest = strlen(rest);
    if (n_rest > left)
        n_rest = left;
    memcpy(err->text + n + 2, rest, n_rest);
    err->text[n + 2 + n_rest] = '\0';
}

/* A sentence may name a file or a member of an archive, and names may hold any
 * byte: bytes that do not belong into a line are escaped here, in one place. */
static void make_line(char *ret, const char *sentence)
{
    size_t n = strlen(sentence);
    while (n) {
        size_t k = strcspn(sentence, "\n");
        ret = pfd_escape_terminal(ret, sentence, k);
        if (k < n) {
            memcpy(ret, "\\n", 2);
            ret += 2;
            k++;
        }
        sentence += k;
        n -= k;
    }
    *ret = '\0';
}

void pfd_report_add(struct pfd_report *report, enum pfd_finding_kind kind,
                    uint64_t offset, const char *text, ...)
{
    char sentence[512];
    char line[4 * sizeof sentence];
    va_list ap;

    if (!pfd_finding_is_note(kind))
        report->n++;
    if (!report->fn)
        return;
    va_start(ap, text);
    vsnprintf(sentence, sizeof sentence, text, ap);
    va_end(ap);
    make_line(line, sentence);
    struct pfd_finding finding = {
        .kind = kind,
        .offset = offset,
        .index = PFD_NO_INDEX,
        .in_buffer = report->in_buffer,
        .source = report->source,
        .text = line,
    };
    report->fn(report->user, &finding);
}

const char *pfd_quote(struct pfd_quoted *ret, const void *bytes, size_t n)
{
    /* Each input byte takes at most 4; the last 4 places are for "...". */
    const char *in = bytes;
    size_t at = 0;
    size_t i = 0;
    while (i < n && at < sizeof ret->text - 8) {
        size_t k = pfd_utf8_length(in + i, n - i);
        if (k > 1 && !pfd_is_control(in + i, k)) {
            memcpy(ret->text + at, in + i, k);
            at += k;
            i += k;
        } else if (in[i] == '\n') {
            memcpy(ret->text + at, "\\n", 2);
            at += 2;
            i++;
        } else if (k == 1 && in[i] >= ' ' && in[i] != 0x7f) {
            ret->text[at++] = in[i++];
        } else {
            at = (size_t)(pfd_escape_byte(ret->text + at, in[i++]) - ret->text);
        }
    }
    if (i < n) {
        memcpy(ret->text + at, "...", 3);
        at += 3;
    }
    ret->text[at] = '\0';
    return ret->text;
}
