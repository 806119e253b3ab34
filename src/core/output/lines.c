/* SPDX-License-Identifier: MIT */
#include "core/output/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <printfdecode/lines.h>

#include "core/base/escape.h"
#include "core/decode/entry_run.h"
#include "core/filter/highlight.h"
#include "core/output/sink.h"
#include "core/output/value_rows.h"
#include "core/print/json_exact.h"
#include "core/print/number_fast.h"

struct pfd_lines {
    const struct pfd_sink *sink;
    struct pfd_sink_options options;
    struct pfd_text out;
    struct pfd_text origin;
    bool has_origin;
    uint64_t time_ns;
    uint64_t second; /* rendered in time_text */
    char time_text[32];
    uint64_t generation;
    uint64_t sequence;
    char members[256];
    bool members_stale;
    struct pfd_stamp stamp;
    bool tells;
};

static const struct pfd_sink *find_sink(const char *name)
{
    for (const struct pfd_sink *const *s = pfd_sinks; *s; s++) {
        if (!strcmp((*s)->name, name))
            return *s;
    }
    return NULL;
}

enum pfd_status pfd_lines_new(const char *output, bool color, bool origin,
                              struct pfd_lines **ret, struct pfd_error *err)
{
    const struct pfd_sink *sink = find_sink(output);
    if (!sink) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "no output is called '%s'", output);
    }
    struct pfd_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    lines->sink = sink;
    lines->options.color = color;
    lines->options.show = origin ? PFD_SHOW_ORIGIN : 0;
    lines->second = UINT64_MAX;
    lines->generation = UINT64_MAX;
    lines->sequence = UINT64_MAX;
    *ret = lines;
    return PFD_OK;
}

void pfd_lines_show(struct pfd_lines *lines, unsigned show, const char *links)
{
    lines->options.show |= show;
    lines->options.links = links;
}

void pfd_lines_mark(struct pfd_lines *lines)
{
    lines->options.finding_marks = true;
}

enum pfd_status pfd_lines_highlight(struct pfd_lines *lines,
                                    const struct pfd_filter *filter,
                                    struct pfd_error *err)
{
    if (!lines->options.color || lines->options.highlight)
        return PFD_OK;
    return pfd_highlight_new(filter, &lines->options.highlight, err);
}

void pfd_lines_fields(struct pfd_lines *lines)
{
    lines->options.fields = true;
}

void pfd_lines_rows(struct pfd_lines *lines)
{
    lines->options.form = lines->sink;
    lines->options.pieces = lines->options.has_texts = true;
    lines->options.sequence = UINT64_MAX;
    lines->sink = &pfd_sink_rows;
}

void pfd_lines_values(struct pfd_lines *lines)
{
    lines->options.pieces = true;
    lines->options.sequence = UINT64_MAX;
    lines->sink = &pfd_sink_rows;
}

void pfd_lines_watch(struct pfd_lines *lines, const struct pfd_watch *watch)
{
    lines->options.watch = watch;
}

void pfd_lines_fail_losses(struct pfd_lines *lines, bool fail)
{
    lines->options.losses_fail = fail;
}

void pfd_lines_set_buffer(struct pfd_lines *lines, uint64_t number)
{
    lines->options.buffer = number;
}

void pfd_lines_free(struct pfd_lines *lines)
{
    if (!lines)
        return;
    pfd_text_free(&lines->out);
    pfd_text_free(&lines->origin);
    pfd_highlight_free(lines->options.highlight);
    free(lines);
}

static void add_string(struct pfd_text *out, struct pfd_wire_bytes text)
{
    char *at = pfd_text_reserve(out, 6 * text.n + 3);
    if (!at)
        return;
    char *end = at;
    *end++ = '"';
    end = pfd_escape_json(end, text.at, text.n);
    *end++ = '"';
    out->n += (size_t)(end - at);
}

static void add_text(struct pfd_text *out, const char *name,
                     struct pfd_wire_bytes text)
{
    if (!text.n)
        return;
    pfd_text_printf(out, "\"%s\":", name);
    add_string(out, text);
    pfd_text_puts(out, ",");
}

static void add_uuid(struct pfd_text *out, struct pfd_wire_bytes uuid)
{
    if (!uuid.n || uuid.n > 64)
        return;
    pfd_text_puts(out, "\"uuid\":\"");
    for (size_t i = 0; i < uuid.n; i++)
        pfd_text_printf(out, "%02x", (uint8_t)uuid.at[i]);
    pfd_text_puts(out, "\",");
}

/* Some readers round numbers beyond 2^53: those are also added as text. */
static void add_number(struct pfd_text *out, const char *name, uint64_t v)
{
    unsigned long long value = v;
    if (v)
        pfd_text_printf(out, "\"%s\":%llu,", name, value);
    if (v > PFD_EXACT_MAX)
        pfd_text_printf(out, "\"%s_exact\":\"%llu\",", name, value);
}

static void add_labels(struct pfd_text *out, const struct pfd_wire_frame *frame)
{
    if (!frame->n_labels)
        return;
    pfd_text_puts(out, "\"labels\":{");
    for (size_t i = 0; i < frame->n_labels; i++) {
        if (i)
            pfd_text_puts(out, ",");
        add_string(out, frame->labels[i].key);
        pfd_text_puts(out, ":");
        add_string(out, frame->labels[i].value);
    }
    pfd_text_puts(out, "},");
}

void pfd_lines_set_origin_members(struct pfd_lines *lines, const char *members)
{
    pfd_sink_set_origin_members(&lines->options, members);
}

enum pfd_status pfd_lines_set_origin(struct pfd_lines *lines,
                                     const struct pfd_wire_frame *buffer)
{
    struct pfd_text *out = &lines->origin;
    out->n = 0;
    pfd_sink_set_origin_members(&lines->options, NULL);
    if (!buffer)
        return PFD_OK;
    add_text(out, "host", buffer->host);
    add_text(out, "process", buffer->process);
    add_number(out, "pid", buffer->pid);
    add_uuid(out, buffer->uuid);
    add_text(out, "device", buffer->device);
    add_text(out, "queue", buffer->queue);
    /* A hash has all 64 bits: a string, as ids are. */
    if (buffer->pipeline) {
        pfd_text_printf(out, "\"pipeline\":\"0x%016llx\",",
                        (unsigned long long)buffer->pipeline);
    }
    add_text(out, "pipeline_type", buffer->pipeline_type);
    add_number(out, "dispatch", buffer->dispatch);
    add_text(out, "stage", buffer->stage);
    add_labels(out, buffer);
    pfd_text_add(out, "", 1);
    if (out->failed) {
        out->failed = false;
        return PFD_ERR_NOMEM;
    }
    if (out->n > 1)
        pfd_sink_set_origin_members(&lines->options, out->data);
    return PFD_OK;
}

void pfd_lines_set_time(struct pfd_lines *lines, uint64_t time_unix_ns)
{
    lines->members_stale |= lines->time_ns != time_unix_ns;
    lines->time_ns = lines->options.time = time_unix_ns;
}

void pfd_lines_set_place(struct pfd_lines *lines, uint64_t generation,
                         uint64_t sequence)
{
    lines->members_stale |=
        lines->generation != generation || lines->sequence != sequence;
    lines->options.generation = generation;
    lines->options.sequence = sequence;
    lines->generation = generation;
    lines->sequence = sequence;
}

enum {
    NS = 1000000000
};

static int put_time(struct pfd_lines *lines, uint64_t ns, char *out, size_t n)
{
    uint64_t second = ns / NS;
    if (second != lines->second) {
        time_t t = (time_t)second;
        struct tm tm;
        lines->second = second;
        if (!gmtime_r(&t, &tm) ||
            !strftime(lines->time_text, sizeof lines->time_text,
                      "%Y-%m-%dT%H:%M:%S", &tm))
            lines->time_text[0] = '\0';
    }
    return snprintf(
        out, n, ",\"time\":\"%s.%09lluZ\",\"time_unix_nano\":\"%llu\"",
        lines->time_text, (unsigned long long)ns % NS, (unsigned long long)ns);
}

/* Most records have no members. */
static void put_members(struct pfd_lines *lines)
{
    int n = 0;
    lines->members[0] = '\0';
    if (lines->time_ns) {
        n = put_time(lines, lines->time_ns, lines->members,
                     sizeof lines->members);
    }
    if (lines->generation != UINT64_MAX) {
        n += snprintf(lines->members + n, sizeof lines->members - (size_t)n,
                      ",\"generation\":%llu",
                      (unsigned long long)lines->generation);
        if (lines->generation > PFD_EXACT_MAX) {
            n += snprintf(lines->members + n, sizeof lines->members - (size_t)n,
                          ",\"generation_exact\":\"%llu\"",
                          (unsigned long long)lines->generation);
        }
    }
    if (lines->sequence != UINT64_MAX) {
        snprintf(lines->members + n, sizeof lines->members - (size_t)n,
                 ",\"sequence\":%llu", (unsigned long long)lines->sequence);
    }
}

const char *pfd_lines_members(struct pfd_lines *lines)
{
    if (lines->members_stale) {
        put_members(lines);
        pfd_sink_set_members(&lines->options,
                             lines->members[0] ? lines->members : NULL);
        lines->members_stale = false;
    }
    return lines->members;
}

const char *pfd_lines_origin_members(struct pfd_lines *lines)
{
    return lines->options.origin_members;
}

/* ---- stamps ---- */

/* The form of a line, also of one within a row. */
static const struct pfd_sink *form_of(const struct pfd_lines *lines)
{
    return lines->options.form ? lines->options.form : lines->sink;
}

/* A line within a row is not at the place of a stamp: its members have it. */
static void stamp_rows(struct pfd_lines *lines, uint64_t sequence,
                       uint64_t time_unix_ns)
{
    lines->options.sequence = sequence;
    if (form_of(lines)->has_type) {
        pfd_lines_set_time(lines, time_unix_ns);
        lines->members_stale |= lines->sequence != sequence;
        lines->sequence = sequence;
    }
}

static void stamp_lines(struct pfd_lines *lines, uint64_t sequence,
                        uint64_t time_unix_ns)
{
    struct pfd_stamp *stamp = &lines->stamp;
    bool is_news = !lines->options.stamp || stamp->time_unix_ns != time_unix_ns;
    lines->options.stamp = stamp;
    stamp->sequence = sequence;
    stamp->time_unix_ns = time_unix_ns;
    if (is_news) {
        stamp->n_time =
            (size_t)put_time(lines, time_unix_ns, stamp->time, PFD_STAMP_TIME);
    }
}

/* Forms without a type have no place for a stamp. */
void pfd_lines_set_stamp(struct pfd_lines *lines, uint64_t sequence,
                         uint64_t time_unix_ns)
{
    lines->options.time = time_unix_ns;
    if (lines->options.form) {
        stamp_rows(lines, sequence, time_unix_ns);
    } else if (lines->sink->has_type) {
        stamp_lines(lines, sequence, time_unix_ns);
    }
}

/* ---- lines ---- */

void pfd_lines_tell(struct pfd_lines *lines)
{
    lines->tells = true;
}

/* Begins a line that is no entry's: the offset of its row, or of the line. */
static size_t begin_line(struct pfd_lines *lines)
{
    return lines->options.form ? pfd_rows_begin_line(&lines->out)
                               : lines->out.n;
}

static void end_line(struct pfd_lines *lines, size_t row)
{
    if (lines->options.form)
        pfd_rows_end_line(&lines->out, row);
}

static void tell_entry(struct pfd_lines *lines, const struct pfd_entry *entry)
{
    size_t row = begin_line(lines);
    form_of(lines)->tell_entry(&lines->out, entry, lines->options.color);
    end_line(lines, row);
}

void pfd_lines_entry(struct pfd_lines *lines, struct pfd_entry *entry)
{
    pfd_lines_members(lines);
    lines->sink->entry(&lines->out, entry, &lines->options);
    if (lines->tells && entry->findings && form_of(lines)->tell_entry)
        tell_entry(lines, entry);
}

void pfd_lines_run(struct pfd_lines *lines,
                   const struct pfd_entry_run *entry_run)
{
    const struct pfd_sink *sink = lines->sink;
    struct pfd_entry_run rest = *entry_run;
    pfd_lines_members(lines);
    while (rest.n) {
        struct pfd_entry entry;
        size_t n =
            sink->run ? sink->run(&lines->out, &rest, SIZE_MAX, &lines->options)
                      : 0;
        if (n < rest.n) {
            pfd_entry_run_entry(&rest, n, &entry);
            pfd_lines_entry(lines, &entry);
            n++;
        }
        rest = pfd_entry_run_from(&rest, n);
    }
}

void pfd_lines_finding(struct pfd_lines *lines,
                       const struct pfd_finding *finding)
{
    const struct pfd_sink *form = form_of(lines);
    bool is_told = lines->tells && form->tell;
    if (!is_told && !form->finding)
        return;
    size_t row = begin_line(lines);
    if (is_told)
        form->tell(&lines->out, finding, &lines->options);
    if (form->finding) {
        pfd_lines_members(lines);
        form->finding(&lines->out, finding, &lines->options);
    }
    end_line(lines, row);
}

void pfd_lines_gap(struct pfd_lines *lines, const struct pfd_gap *gap,
                   const char *source)
{
    const struct pfd_sink *form = form_of(lines);
    if (!form->gap || !(form->has_type || lines->tells))
        return;
    size_t row = begin_line(lines);
    form->gap(&lines->out, gap, source, &lines->options);
    end_line(lines, row);
}

void pfd_lines_add(struct pfd_lines *lines, const char *line, size_t n)
{
    size_t row = begin_line(lines);
    pfd_text_add(&lines->out, line, n);
    end_line(lines, row);
}

const char *pfd_lines_bytes(const struct pfd_lines *lines, size_t *n)
{
    *n = lines->out.failed ? 1 : lines->out.n;
    return lines->out.failed ? NULL : lines->out.data;
}

void pfd_lines_give(struct pfd_lines *lines, char *memory, size_t n)
{
    pfd_text_free(&lines->out);
    lines->out.data = memory;
    lines->out.room = n;
}

void pfd_lines_clear(struct pfd_lines *lines)
{
    lines->out.n = 0;
    lines->out.failed = false;
}

void pfd_lines_cut(struct pfd_lines *lines, size_t n)
{
    lines->out.failed = false;
    if (n < lines->out.n)
        lines->out.n = n;
}

char *pfd_lines_take(struct pfd_lines *lines, size_t *n)
{
    char *ret = lines->out.data;
    *n = lines->out.n;
    lines->out = (struct pfd_text){ 0 };
    return ret;
}
