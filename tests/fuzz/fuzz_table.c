/* SPDX-License-Identifier: MIT */
/*
 * Entries of any format as tables, as collapsed lines and as a trace. Input: as
 * any_format.h has it, and a byte that chooses what is made of them. Every
 * entry is in a table or counted, and so in a trace; collapsed lines stand for
 * all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/collapse/collapse.h"
#include "analysis/table/table.h"
#include "analysis/trace/trace.h"
#include "any_format.h"

static const char *const outputs[] = { "text", "csv", "tsv", "json", "arrow" };
static const char *const aggregates[] = { "count", "min",  "p50", "std",
                                          "nan",   "last", "p99", "mean" };

static bool take(void *user, const void *bytes, size_t n)
{
    size_t *lines = user;
    for (size_t i = 0; i < n; i++)
        *lines += ((const char *)bytes)[i] == '\n';
    return true;
}

static enum pfd_status convert(const struct any_format *in,
                               struct pfd_convert *how,
                               struct pfd_summary *summary)
{
    how->strings = in->strings;
    how->format = in->format;
    how->options = &in->options;
    how->threads = 1;
    how->limit = UINT64_MAX;
    return pfd_convert_bytes(how, in->buffer.base, in->buffer.n, summary, NULL);
}

static void make_table(const struct any_format *in, unsigned how)
{
    struct pfd_summary summary = { 0 };
    struct pfd_table_counts counts = { 0 };
    struct pfd_tables *tables = NULL;
    size_t lines = 0;
    bool is_grouped = how & 8;
    const char *output = outputs[(how & 7) % 5];
    bool holds_all = strcmp(output, "text") == 0 || strcmp(output, "json") == 0;
    const struct pfd_table_spec spec = {
        .strings = in->strings,
        .output = output,
        .write = take,
        .write_user = &lines,
        .all = holds_all && how & 32,
        .aggregates = aggregates,
        .n_aggregates = is_grouped ? 8 : 0,
        .sort = how & 16 ? is_grouped ? "-count" : "findings" : NULL,
        .top = how & 64 ? 3 : 0,
        .width = how & 128 ? 60 : 0,
    };
    FUZZ_CHECK(pfd_tables_new(&spec, &tables, NULL) == PFD_OK);
    pfd_tables_set_source(tables, "fuzz", how & 1);
    struct pfd_convert to = {
        .output = "raw",
        .consumer = pfd_tables_consumer(tables),
    };
    enum pfd_status status = convert(in, &to, &summary);
    FUZZ_CHECK(status == PFD_OK || status == PFD_ERR_STOPPED);
    struct pfd_error err = { 0 };
    status = pfd_tables_end(tables, &counts, &err);
    /* A column may be called `findings` itself, and then the other is not. */
    FUZZ_CHECK(status == PFD_OK || (spec.sort && status == PFD_ERR_USAGE));
    if (status == PFD_OK) {
        FUZZ_CHECK(counts.rows + counts.unknown + counts.others ==
                   summary.entries);
        if (!strcmp(output, "json") && !is_grouped && !spec.top)
            FUZZ_CHECK(lines == counts.rows);
    }
    pfd_tables_free(tables);
}

struct collapsed {
    uint64_t entries;
    struct pfd_text line;
};

/* Adds up what lines of JSON say that they stand for. */
static bool add_up(void *user, const void *bytes, size_t n)
{
    static const char entry[] = "{\"type\":\"entry\"";
    static const char key[] = ",\"collapsed\":";
    struct collapsed *c = user;
    pfd_text_add(&c->line, bytes, n);
    FUZZ_CHECK(!c->line.failed && n);
    char *at = c->line.data;
    char *end = at + c->line.n;
    for (char *newline; (newline = memchr(at, '\n', (size_t)(end - at)));
         at = newline + 1) {
        *newline = '\0';
        if (strncmp(at, entry, sizeof entry - 1) != 0)
            continue;
        /* No text of an entry has a quote without a backslash before it. */
        const char *said = strstr(at, key);
        c->entries += said ? strtoull(said + sizeof key - 1, NULL, 10) : 1;
    }
    FUZZ_CHECK(at == end);
    c->line.n = 0;
    return true;
}

static void collapse(const struct any_format *in, unsigned how)
{
    struct pfd_summary summary = { 0 };
    struct pfd_collapse *collapse = NULL;
    struct collapsed collapsed = { 0 };
    size_t lines = 0;
    bool is_json = how & 1;
    const struct pfd_collapse_spec spec = {
        .output = is_json ? "json" : "text",
        .equal = how & 2,
        .window = how >> 2 & 7,
        .write = is_json ? add_up : take,
        .write_user = is_json ? (void *)&collapsed : &lines,
    };
    FUZZ_CHECK(pfd_collapse_new(&spec, &collapse, NULL) == PFD_OK);
    struct pfd_convert to = {
        .output = spec.output,
        .consumer = pfd_collapse_consumer(collapse),
    };
    FUZZ_CHECK(convert(in, &to, &summary) == PFD_OK);
    FUZZ_CHECK(pfd_collapse_end(collapse) == PFD_OK);
    if (is_json)
        FUZZ_CHECK(collapsed.entries == summary.entries);
    pfd_collapse_free(collapse);
    pfd_text_free(&collapsed.line);
}

/* Whole packets, each of which has the length that it says. */
static bool take_packets(void *user, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    const uint8_t *end = at + n;
    size_t *packets = user;
    for (; at < end; ++*packets) {
        size_t length = 0;
        FUZZ_CHECK(end - at >= 5 && *at++ == 10); /* field 1, LEN */
        for (int i = 0; i < 4; i++)
            length |= (size_t)(*at++ & 0x7f) << 7 * i;
        FUZZ_CHECK(length <= (size_t)(end - at));
        at += length;
    }
    return true;
}

static void trace(const struct any_format *in, unsigned how)
{
    struct pfd_summary summary = { 0 };
    struct pfd_trace_counts counts;
    struct pfd_trace *trace = NULL;
    size_t packets = 0;
    const struct pfd_trace_spec spec = {
        .strings = in->strings,
        .write = take_packets,
        .write_user = &packets,
    };
    FUZZ_CHECK(pfd_trace_new(&spec, &trace, NULL) == PFD_OK);
    struct pfd_convert to = {
        .row_time = how & 1,
        .consumer = pfd_trace_consumer(trace),
    };
    FUZZ_CHECK(convert(in, &to, &summary) == PFD_OK);
    FUZZ_CHECK(pfd_trace_end(trace, &counts) == PFD_OK);
    FUZZ_CHECK(counts.instants + counts.untimed + counts.over_large ==
               summary.entries);
    FUZZ_CHECK(packets >= counts.instants + counts.counters);
    pfd_trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct any_format in;
    if (!any_format_read(&in, data, n))
        return 0;
    unsigned how = pfd_byte_reader_u8(&in.rest);
    make_table(&in, how);
    collapse(&in, how);
    trace(&in, how);
    pfd_strings_free(in.strings);
    return 0;
}
