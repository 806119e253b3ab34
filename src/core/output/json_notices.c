/* SPDX-License-Identifier: MIT */
#include "core/output/json_notices.h"

#include <string.h>

#include "core/base/escape.h"
#include "core/print/json_exact.h"

enum {
    ESCAPE_MAX = 6 /* bytes of JSON for one byte */
};

static void add_string(struct pfd_text *out, const char *name, const char *text)
{
    size_t n = strlen(text);
    pfd_text_printf(out, ",\"%s\":\"", name);
    char *at = pfd_text_reserve(out, ESCAPE_MAX * n + 1);
    if (!at)
        return;
    char *end = pfd_escape_json(at, text, n);
    *end++ = '"';
    out->n += (size_t)(end - at);
}

static void add_stamp(struct pfd_text *out,
                      const struct pfd_sink_options *options)
{
    char *at = options->stamp ? pfd_text_reserve(out, PFD_STAMP_ROOM) : NULL;
    if (at)
        out->n += (size_t)(pfd_stamp_put(options->stamp, at) - at);
}

void pfd_json_finding(struct pfd_text *out, const struct pfd_finding *finding,
                      const struct pfd_sink_options *options)
{
    const char *origin = options->origin_members;
    pfd_text_puts(out, "{\"type\":\"finding\"");
    add_stamp(out, options);
    pfd_text_printf(out, ",\"kind\":\"%s\"", pfd_finding_name(finding->kind));
    add_string(out, "text", finding->text);
    if (finding->has_id) {
        pfd_text_printf(out, ",\"id\":\"0x%012llx\"",
                        (unsigned long long)finding->id);
    }
    if (finding->count) {
        pfd_text_printf(out, ",\"count\":%llu",
                        (unsigned long long)finding->count);
    }
    if (finding->index != PFD_NO_INDEX) {
        pfd_text_printf(out, ",\"index\":%llu",
                        (unsigned long long)finding->index);
    }
    if (finding->offset != PFD_NO_OFFSET) {
        pfd_text_printf(out, ",\"offset\":%llu",
                        (unsigned long long)finding->offset);
    }
    add_string(out, "source", finding->source);
    if (origin && *origin) {
        pfd_text_puts(out, ",\"origin\":{");
        pfd_text_add(out, origin, strlen(origin) - 1);
        pfd_text_puts(out, "}");
    }
    if (options->members)
        pfd_text_puts(out, options->members);
    pfd_text_puts(out, "}\n");
}

void pfd_json_summary(struct pfd_text *out, const struct pfd_summary *summary,
                      const char *source,
                      const struct pfd_sink_options *options)
{
    unsigned long long lost = summary->lost_bytes;
    (void)options;
    pfd_text_printf(out,
                    "{\"type\":\"summary\",\"entries\":%llu,\"unknown\":%llu,"
                    "\"bytes\":%llu,\"lost_bytes\":%llu,"
                    "\"skipped_bytes\":%llu,\"findings\":%llu",
                    (unsigned long long)summary->entries,
                    (unsigned long long)summary->unknown,
                    (unsigned long long)summary->bytes, lost,
                    (unsigned long long)summary->skipped_bytes,
                    (unsigned long long)summary->findings);
    if (lost > PFD_EXACT_MAX)
        pfd_text_printf(out, ",\"lost_bytes_exact\":\"%llu\"", lost);
    add_string(out, "source", source);
    pfd_text_puts(out, "}\n");
}

void pfd_json_gap(struct pfd_text *out, const struct pfd_gap *gap,
                  const char *source, const struct pfd_sink_options *options)
{
    unsigned long long missed = gap->missed;
    pfd_text_puts(out, "{\"type\":\"gap\"");
    add_stamp(out, options);
    pfd_text_printf(out, ",\"missed\":%llu", missed);
    add_string(out, "reason", gap->reason);
    if (missed > PFD_EXACT_MAX)
        pfd_text_printf(out, ",\"missed_exact\":\"%llu\"", missed);
    if (source && *source)
        add_string(out, "source", source);
    pfd_text_puts(out, "}\n");
}
